"""Language by script and function words."""

from __future__ import annotations

import pytest

from engine.analysis.detection import detect_language

EXAMPLES = {
    "en": "The cat sat on the mat, and it was not at all happy with that.",
    "de": "Der schnelle braune Fuchs springt über den faulen Hund und ist nicht müde.",
    "fr": "Le renard brun saute par-dessus le chien qui ne dort pas dans la maison.",
    "es": "El rápido zorro marrón salta sobre el perro perezoso, pero no se cansa.",
    "it": "La volpe marrone salta sopra il cane pigro e non si ferma più.",
    "pt": "A raposa marrom salta sobre o cão preguiçoso e não para quando chove.",
    "nl": "De snelle bruine vos springt over de luie hond en het is niet ver.",
    "sv": "Den snabba bruna räven hoppar över den lata hunden och är inte trött.",
    "da": "Den hurtige brune ræv hopper over den dovne hund, og jeg ved ikke hvad det er.",
    "no": "Den raske brune reven hopper over den late hunden, og jeg vet ikke hva det er.",
    "fi": "Nopea ruskea kettu hyppää laiskan koiran yli ja se on hyvä.",
    "hu": "A gyors barna róka átugrik a lusta kutya felett és nem áll meg.",
    "ro": "Vulpea maro rapidă sare peste câinele leneș și nu se oprește din fugă.",
    "tr": "Hızlı kahverengi tilki tembel köpeğin üzerinden atlar ve bu çok güzel.",
    "ru": "Быстрая коричневая лиса прыгает через ленивую собаку и не останавливается.",
    "el": "Η γρήγορη καφέ αλεπού πηδά πάνω από το τεμπέλικο σκυλί.",
    "ar": "الثعلب البني السريع يقفز فوق الكلب الكسول.",
    "ta": "விரைவான பழுப்பு நரி சோம்பேறி நாய் மீது குதிக்கிறது.",
    "zh": "敏捷的棕色狐狸跳过懒狗。",
    "ja": "素早い茶色の狐がのろまな犬を飛び越える。",
    "ko": "빠른 갈색 여우가 게으른 개를 뛰어넘는다.",
    "th": "สุนัขจิ้งจอกสีน้ำตาลกระโดดข้ามสุนัข",
    "hi": "तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर कूदती है।",
    "he": "השועל החום קופץ מעל הכלב העצלן.",
    "hy": "Արագ շագանակագույն աղվեսը ցատկում է շան վրայով։",
    "uk": "Швидка лисиця і її собака не були в лісі, але це добре.",
    "bg": "Бързата лиса е над кучето и не се спира, защото това има значение.",
    "pl": "Szybki brązowy lis przeskakuje nad leniwym psem i nie jest zmęczony.",
    "fa": "روباه قهوه‌ای سریع از روی سگ تنبل می‌پرد که گرسنه است",
    "und": "Boeing 747 Xerox 3.14",
}


@pytest.mark.parametrize("language", EXAMPLES)
def test_a_sentence_tells_its_language(language: str) -> None:
    assert detect_language(EXAMPLES[language]) == language


@pytest.mark.parametrize("text", ["", " ", "1234", "→ ★ …", "\0"])
def test_a_text_without_words_is_of_no_language(text: str) -> None:
    assert detect_language(text) == "und"


def test_foreign_names_do_not_change_the_language_of_a_text() -> None:
    assert detect_language("The city of 北京 (Beijing) is the capital of China, and it is one of the oldest.") == "en"
    assert detect_language("我们使用 Python 和 PostgreSQL 来开发这个网站的后端服务。") == "zh"


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    assert detect_language(EXAMPLES["en"] * 20 + EXAMPLES["de"] * 1_000) == "en"
