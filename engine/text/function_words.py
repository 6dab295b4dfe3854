"""Function words of the languages that are told apart by them.

Each list holds words that are frequent in its language; a word may stand in several lists, and then says less.
Languages without a stemmer (Polish, Czech, Indonesian, Vietnamese, Catalan, Bulgarian) are here so
that they are not taken for a neighbour that has one.
"""

from __future__ import annotations

LATIN: dict[str, str] = {
    "en": "the of and to in is that it for was on are as with his they be at one have this from had by not but what"
    " all were we when your can said there use an each which she do how their if will up other about out many"
    " then them would has been who its into more than",
    "de": "der die das und ist nicht ein eine zu den mit von auf für im sich dem des auch es an werden aus er hat"
    " dass sie nach wird bei einer um am sind noch wie einem über einen so zum war haben nur oder aber vor zur"
    " bis mehr durch man sein wurde sei ich wir kann",
    "fr": "le la les de des et un une est en que qui dans pour pas sur au ce il se ne plus par avec sont son sa ses"
    " aux du cette ou mais comme été elle nous vous ils leur leurs tout fait être même aussi ont après entre"
    " sans où",
    "es": "el la los las de que y en un una es por con no se su para al lo como más pero sus le ya o este sí porque"
    " esta entre cuando muy sin sobre también me hasta hay donde quien desde todo nos durante uno ni contra"
    " otros ese era fue ha son está del",
    "it": "il la le lo gli di che e un una è per non con si da in del della dei delle nel nella al alla sono come"
    " più ma anche ha questo questa essere stato ed dal dalla sul sulla se suo sua loro tra ci ai degli hanno"
    " era dopo",
    "pt": "o a os as de que e do da em um uma para com não por mais dos das como mas foi ao ele sua ou ser quando"
    " muito há nos já está eu também só pelo pela até isso ela entre era depois sem mesmo aos seus são na no"
    " às você foram",
    "nl": "de het een en van ik te dat die in is niet met op aan er zijn voor maar om hem dan zou of wat mijn men"
    " dit zo door over ze bij ook tot je uit der worden naar heeft hun haar wordt werd deze nog kan hebben"
    " geen",
    "sv": "och att det som en på är av för med den till inte om ett han men var jag sig från vi så kan man när år"
    " under också efter eller nu sin där vid mot ska skulle kommer ut får finns vara hade alla andra mycket än"
    " här denna",
    "da": "og at det som en på er af for med den til ikke om et han men var jeg sig fra vi så kan man når år under"
    " også efter eller nu sin der ved mod skal skulle ud får være havde alle andre meget end her denne blev"
    " hvad kun mellem nogle være blive deres hvor",
    "no": "og at det som en på er av for med den til ikke om et han men var jeg seg fra vi så kan man når år under"
    " også etter eller nå sin der ved mot skal skulle ut får være hadde alle andre mye enn her denne ble hva"
    " bare mellom noen bli deres hvor gjennom etter",
    "fi": "ja on ei se että hän oli ovat mutta kun niin myös joka mitä ole tai kuin jos vain nyt sen olla vielä jo"
    " hänen minä sitä tämä jotka kanssa siitä siinä ollut olisi mukaan voi sekä joita sitten koko kaikki ovat"
    " eivät",
    "hu": "a az és hogy nem is egy ez meg csak de ha már volt mint van el még vagy azt ki mert minden lehet kell"
    " csak itt ezt azonban majd után között illetve aki amely által pedig olyan lesz sem mi te ő nagyon voltak",
    "ro": "și de la în a cu pe că nu o un este din care mai pentru ce sa se au fost fi ca prin sau dar după între"
    " acest această lui sunt era fără cum când doar către unui unei ale ei lor dintre toate dacă",
    "tr": "ve bir bu da de için ile olarak çok daha olan gibi ne en kadar ama sonra var o ki değil mi her olduğu ya"
    " tarafından göre ise veya hem ben sen biz yok diye şey bunun ancak iki ilk zaman",
    "pl": "i w nie na z do się że to jest o jak ale po co tak za od przez dla są tylko był jego by być ich ze może"
    " już który które oraz także która czy przy ma było jej jako",
    "cs": "a v se na je že to s z o do i ale jak za by po pro jsem si tak jako nebo který jeho od už jen byl jsou"
    " při které také mezi této která více když jejich bylo",
    "id": "yang dan di dari untuk dengan pada ini itu tidak dalam adalah ke akan oleh juga atau ada sebagai telah"
    " mereka karena bisa kami saya anda lebih tersebut dapat",
    "vi": "và của là có được trong cho không với các những một người khi đã này từ để về đến như cũng tại theo ra"
    " vào nhiều sau hay nhưng",
    "ca": "el la els les de que i en un una és per amb no es del al més com pel però dels són ha va aquest aquesta"
    " també seva seu entre fins quan sobre ser hi perquè molt",
}
"""ISO 639-1 code to words, lower case, apart by spaces."""

CYRILLIC: dict[str, str] = {
    "ru": "и в не на что с по это как он а но из к за его от для то же все был она было так мы вы только еще ещё бы"
    " или уже при были чтобы после также который их",
    "bg": "и на да се не от за в е са по че с като ще но или към този което които бе при до след още само това има",
}
