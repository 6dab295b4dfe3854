"""Words that a full stop follows inside a sentence, lower case and without their last stop."""

from __future__ import annotations


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


NEVER_LAST = _words(
    """
    mr mrs ms mx dr prof rev hon messrs mme mmes mlle mm gen col maj capt cpt cmdr lt sgt cpl adm gov sen rep pres supt
    fr hr frl dipl ing mag st ste vs cf viz al ibid e.g i.e eg ie approx ca incl excl resp
    fig figs vol vols pp nr núm núms pág págs eq eqs ref refs tab abb bd hrsg hg bzw z.b d.h u.a o.ä vgl evtl ggf sog
    sra srta dra dña ud uds p.ej p.ex ex.g av avda bd.e m.a.o t.ex bl.a d.v.s f.eks dvs sig sigg dott avv geom ecc.e
    bijv blz mevr dhr mw drs mej т.е т.к т.н т.д.п г-н г-жа им проф акад ул пр доц κ κα κος δρ π.χ δηλ д-р
    """
)
"""A name, a number or an example follows: no sentence ends here."""

BEFORE_NUMBER = _words(
    "no nos art arts sec secs ch chap para paras ex op p s q v § str стр с п гл рис табл αρ σελ n° nº"
)
"""No sentence ends here when a number follows."""

MAY_BE_LAST = _words(
    """
    inc corp co ltd llc plc bros jr sr etc dept est assn univ ave blvd rd mt ft sq min max misc
    jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun
    gmbh ag usw etc. u.s.w o.j jh chr geb gest cie cía s.a sté bl osv kr г гг др пр тыс млн млрд руб коп
    """
)
"""A sentence ends here only when the next word is one that sentences begin with."""

STARTERS = _words(
    """
    The A An This That These Those It Its He She They We You I In On At As But And Or If When While After
    Before For From With By To There Here His Her Their Our My Your However Although Though Since Because What
    Who Why How Where Which Then So Yet Not No One Some Many Most All Both Each Every Another Such During
    Under Over About According Meanwhile Also Now Today Once Until Only Even Still Last Two Three Several
    Other Others Like Unlike Despite Instead Nor Der Die Das Den Dem Des Ein Eine Einen Es Er Sie Wir Ich Ihr
    Und Aber Doch Im Am Auf Mit Nach Bei Von Zu Als Wenn Le La Les L Un Une Des Il Elle Ils Elles Nous Vous Je
    On Ce Cette Ces Mais Et Dans En Pour Sur Avec Par Au Aux Si El Los Las Una Lo Su Sus Pero Y Con Por Para
    Se Ya Como Cuando O Os As Um Uma Mas E Ao No Na Eles Ela Gli Nel Nella Ma Con Per Non Che Questo Questa
    Het De Een Hij Zij Ze Wij Ik Maar En Van Voor Met Dit Dat Det Den Han Hon Hun De Jag Jeg Vi Men Och Og På
    I Som För For Ett Et En В На И Но Он Она Они Это Мы Я Вы По С К О За Для При Как Что Не Если Когда После
    Также Ο Η Το Οι Τα Και Στο Στη Με
    """
)
"""Words that begin a sentence far more often than they follow an abbreviation inside one."""

MONTHS = _words(
    """
    Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember Jahrhundert Jahrhunderts
    Kapitel Klasse Tag Woche Auflage Platz
    """
)
"""What follows an ordinal number written as “5.” in German; Nordic and Slavic months are lower case anyway."""
