"""Small collections of everyday texts with questions that they answer and questions that they do not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Everyday:
    """A collection; documents are ``title: body`` or a body alone.

    Attributes:
        answered: questions that a document answers.
        unanswered: questions about something else, or about a subject that no document names.
        half: the judge was fitted to neither; its errors on ``a`` were looked at while it was made.
    """

    name: str
    half: str
    documents: tuple[str, ...]
    answered: tuple[str, ...]
    unanswered: tuple[str, ...]


EVERYDAY = (
    Everyday(
        "animals",
        "a",
        (
            "Cats sleep about 13 hours a day, mostly around noon and at night.",
            "Dogs need a walk twice a day and fresh water at all times.",
            "Parrots can live for sixty years when they are kept well.",
        ),
        (
            "How long do cats sleep?",
            "How many hours does a cat sleep each day?",
            "How often should I walk my dog?",
            "How old do parrots get?",
            "What do dogs need?",
            "When do cats sleep?",
            "life span of a parrot",
        ),
        (
            "How long do elephants sleep?",
            "How much does a hamster cost?",
            "Who invented the telephone?",
            "What is the capital of Peru?",
            "How do I reset my password?",
            "Which vaccine do rabbits need?",
        ),
    ),
    Everyday(
        "bridge",
        "a",
        (
            "The old bridge: The bridge across the Lea was opened in 1887 by the duke. It is 212 metres long.",
            "The ferry: Before that a ferry carried people and cattle to the other bank for two pence.",
        ),
        (
            "When was the bridge opened?",
            "How long is the bridge?",
            "Who opened the bridge?",
            "What did the ferry cost?",
            "Which river does the bridge cross?",
            "What year did the bridge open?",
        ),
        (
            "When was the tunnel opened?",
            "How tall is the lighthouse?",
            "Who designed the cathedral?",
            "Is there a museum?",
            "What is the recipe for apple pie?",
        ),
    ),
    Everyday(
        "one note",
        "a",
        ("Meeting on Thursday: Ana presents the budget at 10, then we decide on the new printer. Lunch is at noon.",),
        (
            "Who presents the budget?",
            "What time does Ana present the budget?",
            "When is lunch?",
            "What do we decide about the printer?",
            "On which day is the meeting?",
        ),
        (
            "Who repairs the coffee machine?",
            "What is Tom's phone number?",
            "How do I file a travel claim?",
            "When does the summer school begin?",
        ),
    ),
    Everyday(
        "shop questions",
        "a",
        (
            "Returns: You may send goods back within 30 days. The refund is paid to your card within a week.",
            "Delivery: Orders placed before 2 pm leave the same day. Delivery takes two to four working days.",
            "Payment: We accept cards, bank transfer and PayPal. Invoices are for companies only.",
            "Gift cards: A gift card is valid for three years and cannot be exchanged for cash.",
            "Contact: Write to us at any hour; the telephone is answered from 9 to 17 on weekdays.",
        ),
        (
            "How long do I have to return an item?",
            "When will I get my refund?",
            "How long does delivery take?",
            "Can I pay with PayPal?",
            "Do you accept cards?",
            "How long is a gift card valid?",
            "Can I exchange a gift card for cash?",
            "What payment methods do you accept?",
            "When is the telephone answered?",
            "Who gets invoices?",
        ),
        (
            "Do you have a shop in Lisbon?",
            "Is the kettle dishwasher safe?",
            "Who is your chief executive?",
            "How do I cancel my newsletter subscription?",
            "What is the warranty on headphones?",
            "How high is Mount Kenya?",
        ),
    ),
    Everyday(
        "tickets",
        "a",
        (
            "#101 Printer offline: The printer on floor 3 lost its address. Fixed by giving it a static address.",
            "#102 Slow login: Login took 40 seconds because the directory server was out of memory.",
            "#103 Export fails: The CSV export stops at 65,536 rows. Workaround: export by month.",
            "#104 Dark theme: Users ask for a dark theme in the mobile app. Planned for the autumn release.",
            "#105 Duplicate invoices: A retry after a timeout created invoices twice. An idempotency key was added.",
            "#106 Emails delayed: The queue was blocked by one attachment of 900 MB.",
        ),
        (
            "Why did the export fail?",
            "Why was login slow?",
            "How was the printer fixed?",
            "What caused duplicate invoices?",
            "When will the dark theme come?",
            "Why were emails delayed?",
            "Is there a workaround for the CSV export?",
            "How large was the attachment that blocked the queue?",
        ),
        (
            "Why does the VPN disconnect?",
            "Who approved the holiday calendar?",
            "How do we rotate the TLS certificates?",
            "What is the roadmap for the Linux client?",
            "Why is the elevator broken?",
        ),
    ),
    Everyday(
        "product pages",
        "a",
        (
            "Alpine 2 tent: Sleeps two. Weighs 1.9 kg. Waterproof to 3,000 mm. Packs to the size of a loaf.",
            "Ridge 45 backpack: 45 litres, 1.2 kg, rain cover included, fits laptops up to 15 inches.",
            "Ember stove: Boils a litre of water in four minutes. Runs on gas cartridges.",
            "Fjord sleeping bag: Comfort temperature minus 5 degrees. Filled with duck down.",
        ),
        (
            "How heavy is the Alpine 2 tent?",
            "How much does the Alpine 2 weigh?",
            "Does the backpack have a rain cover?",
            "What is the sleeping bag filled with?",
            "How fast does the stove boil water?",
            "Does a laptop fit into the Ridge 45?",
            "What does the stove run on?",
            "How many people sleep in the tent?",
        ),
        (
            "Do you sell kayaks?",
            "What does the bicycle weigh?",
            "Which boots are best for snow?",
            "Does the watch have GPS?",
            "Who wrote the novel Dracula?",
        ),
    ),
    Everyday(
        "Tiere und Stadt",
        "a",
        (
            "Katzen schlafen etwa 13 Stunden am Tag und sind in der Dämmerung wach.",
            "Die alte Brücke wurde 1887 eröffnet und ist 212 Meter lang.",
            "Das Bürgeramt hat montags bis freitags von 8 bis 16 Uhr geöffnet.",
        ),
        (
            "Wie lange schlafen Katzen?",
            "Wann wurde die Brücke eröffnet?",
            "Wie lang ist die Brücke?",
            "Wann hat das Bürgeramt geöffnet?",
            "Wie viele Stunden schläft eine Katze am Tag?",
        ),
        (
            "Wie lange schlafen Elefanten?",
            "Wer hat das Telefon erfunden?",
            "Was kostet ein Flug nach Rom?",
            "Wo finde ich einen Zahnarzt?",
            "Wie hoch ist der Kirchturm?",
        ),
    ),
    Everyday(
        "notes en français",
        "a",
        (
            "Les chats dorment environ treize heures par jour, surtout l'après-midi.",
            "Le vieux pont a été ouvert en 1887 et mesure 212 mètres.",
            "La mairie est ouverte du lundi au vendredi, de 9 h à 17 h.",
        ),
        (
            "Combien d'heures dorment les chats ?",
            "Quand le pont a-t-il été ouvert ?",
            "Quand la mairie est-elle ouverte ?",
            "Combien mesure le pont ?",
        ),
        (
            "Combien de temps dorment les éléphants ?",
            "Qui a inventé le téléphone ?",
            "Quelle est la recette de la tarte aux pommes ?",
            "Où se trouve le musée ?",
        ),
    ),
    Everyday(
        "notas en español",
        "a",
        (
            "Los gatos duermen unas trece horas al día, sobre todo por la tarde.",
            "El puente viejo se abrió en 1887 y mide 212 metros.",
            "El ayuntamiento abre de lunes a viernes, de 9 a 14 horas.",
        ),
        (
            "¿Cuántas horas duermen los gatos?",
            "¿Cuándo se abrió el puente?",
            "¿Cuánto mide el puente?",
            "¿Cuándo abre el ayuntamiento?",
        ),
        (
            "¿Cuánto duermen los elefantes?",
            "¿Quién inventó el teléfono?",
            "¿Cuál es la capital del Perú?",
            "¿Dónde está el museo?",
        ),
    ),
    Everyday(
        "kitchen",
        "b",
        (
            "Pancakes: Mix 200 g flour with two eggs and half a litre of milk. Fry in butter until golden.",
            "Lentil soup: Simmer the red lentils with carrots and cumin for 25 minutes. Serves four.",
            "Bread: Let the dough rise overnight in the fridge. Bake at 240 degrees for 40 minutes.",
            "Lemon cake: Needs three lemons and 150 g sugar. Keeps for five days in a tin.",
        ),
        (
            "How much flour do I need for pancakes?",
            "How long does the lentil soup simmer?",
            "At what temperature do I bake the bread?",
            "How many lemons are in the lemon cake?",
            "How long does the cake keep?",
            "Which spice goes into the soup?",
            "Where does the dough rise?",
            "How many people does the soup serve?",
        ),
        (
            "How do I grill salmon?",
            "What wine goes with venison?",
            "How many calories does a pizza have?",
            "When was the microwave invented?",
            "How do I sharpen a knife?",
        ),
    ),
    Everyday(
        "house rules",
        "b",
        (
            "Bins: The black bin is emptied on Monday, the green one every second Wednesday.",
            "Laundry: The washing machine in the cellar may be used from 7 to 21. A wash costs 2 euros.",
            "Bicycles: Please put bicycles into the shed, not into the stairwell. The code of the shed is 4711.",
            "Heating: The boiler is serviced each September. Call the caretaker, Mr Novak, when a radiator stays cold.",
            "Pets: Small animals are allowed. Dogs need the owner's consent.",
            "Parking: Each flat has one space in the yard. Visitors park in the street.",
        ),
        (
            "When is the black bin emptied?",
            "How much does a wash cost?",
            "Where should I put my bicycle?",
            "What is the code of the shed?",
            "Who is the caretaker?",
            "Are dogs allowed?",
            "Where do visitors park?",
            "When is the boiler serviced?",
            "Can I use the washing machine at night?",
        ),
        (
            "Is there a swimming pool?",
            "How fast is the internet connection?",
            "Who won the election?",
            "What is the rent of the flat on the fifth floor in Vienna?",
            "Where is the nearest pharmacy?",
        ),
    ),
    Everyday(
        "office handbook",
        "b",
        (
            "Holidays: Full-time staff have 28 days of leave a year. Five days may be carried over until March.",
            "Sick leave: Tell your manager before 9. A doctor's note is needed from the third day.",
            "Expenses: Hand in receipts by the fifth of the next month. Train tickets are second class.",
            "Working from home: Two days a week, agreed with the team. Core hours are 10 to 15.",
            "Laptops: Laptops are replaced after four years. Report a lost laptop to security at once.",
            "Onboarding: New colleagues meet their mentor on the first day and get a badge at reception.",
            "Training: Each employee has a budget of 1,500 euros a year for courses and books.",
            "Phones: Company phones may be used privately within the European Union.",
        ),
        (
            "How many days of leave do I have?",
            "When do I need a doctor's note?",
            "Can I carry over holidays?",
            "How many days a week may I work from home?",
            "When are laptops replaced?",
            "What is the training budget?",
            "Where do I get my badge?",
            "What should I do when I lose my laptop?",
            "By when must receipts be handed in?",
            "What are the core hours?",
        ),
        (
            "How do I order business cards?",
            "What is the dress code?",
            "Is there a canteen?",
            "Who founded the company?",
            "How does the pension plan work?",
            "Which airline flies to Nairobi?",
        ),
    ),
    Everyday(
        "planets and people",
        "b",
        (
            "Mars has two moons, Phobos and Deimos. A day on Mars lasts 24 hours and 37 minutes.",
            "Venus is the hottest planet; its surface reaches 465 degrees.",
            "Ada Lovelace wrote the first published program, for the Analytical Engine, in 1843.",
            "The Amazon discharges more water than the next seven rivers together.",
            "Penguins breed on the ice in winter. The males keep the egg warm for two months.",
        ),
        (
            "How many moons does Mars have?",
            "Which planet is the hottest?",
            "How long is a day on Mars?",
            "Who wrote the first program?",
            "When did Ada Lovelace write her program?",
            "Who keeps the egg of a penguin warm?",
            "Where do penguins breed?",
            "Does the Amazon carry more water than other rivers?",
        ),
        (
            "How many moons does Saturn have?",
            "Who painted the Mona Lisa?",
            "How long is the Nile?",
            "When did Marie Curie win the Nobel prize?",
            "What do koalas eat?",
            "How many rings does Jupiter have?",
        ),
    ),
    Everyday(
        "Hausordnung",
        "b",
        (
            "Der Müll wird jeden Montag abgeholt, das Altpapier alle zwei Wochen.",
            "Die Waschmaschine im Keller darf von 7 bis 21 Uhr benutzt werden. Eine Wäsche kostet 2 Euro.",
            "Fahrräder gehören in den Schuppen. Der Hausmeister heißt Novak.",
            "Hunde brauchen die Zustimmung des Vermieters.",
        ),
        (
            "Wann wird der Müll abgeholt?",
            "Was kostet eine Wäsche?",
            "Wo stelle ich mein Fahrrad ab?",
            "Wie heißt der Hausmeister?",
            "Brauchen Hunde eine Zustimmung?",
        ),
        (
            "Gibt es ein Schwimmbad?",
            "Wie schnell ist das Internet?",
            "Wer gewann die Wahl?",
            "Was kostet die Miete in Wien?",
        ),
    ),
    Everyday(
        "règlement",
        "b",
        (
            "La bibliothèque prête cinq livres pour trois semaines. Une carte coûte dix euros par an.",
            "La piscine est fermée en août. L'entrée coûte quatre euros, deux euros pour les enfants.",
            "Le marché a lieu chaque samedi sur la place de l'église.",
        ),
        (
            "Combien de livres peut-on emprunter à la bibliothèque ?",
            "Quand la piscine est-elle fermée ?",
            "Combien coûte l'entrée de la piscine ?",
            "Où a lieu le marché ?",
        ),
        (
            "Qui est le directeur du théâtre ?",
            "Combien de lunes a Saturne ?",
            "Comment réparer un vélo ?",
            "Quel médecin est de garde ?",
        ),
    ),
    Everyday(
        "avisos",
        "b",
        (
            "La biblioteca presta cinco libros durante tres semanas. El carné cuesta diez euros al año.",
            "La piscina cierra en agosto. La entrada cuesta cuatro euros y dos para los niños.",
            "El mercado se celebra cada sábado en la plaza de la iglesia.",
        ),
        (
            "¿Cuántos libros presta la biblioteca?",
            "¿Cuándo cierra la piscina?",
            "¿Cuánto cuesta la entrada a la piscina?",
            "¿Dónde se celebra el mercado?",
        ),
        (
            "¿Quién es el director del teatro?",
            "¿Cuántas lunas tiene Saturno?",
            "¿Cómo se repara una bicicleta?",
            "¿Qué médico está de guardia?",
        ),
    ),
    Everyday(
        "software",
        "b",
        (
            "Install with pip install fastgrid. Python 3.10 or newer is required.",
            "Configuration: The file fastgrid.toml is read from the current folder. Set workers = 4 for four workers.",
            "Logging: Logs go to standard error. Use --verbose for debug messages.",
            "Licence: fastgrid is released under the MIT licence.",
            "Limits: A grid may have 10 million cells; larger ones raise GridTooLarge.",
            "Backup: Call grid.save(path) to write a snapshot; grid.load(path) reads it back.",
            "Colours: Themes are called light, dark and paper.",
        ),
        (
            "How do I install fastgrid?",
            "Which Python version is required?",
            "Where do the logs go?",
            "What licence does fastgrid have?",
            "How many cells may a grid have?",
            "How do I save a snapshot?",
            "When is GridTooLarge raised?",
            "How do I set the number of workers?",
            "Which themes are there?",
        ),
        (
            "Does it support PostgreSQL?",
            "How do I deploy to Kubernetes?",
            "Who maintains the Windows installer?",
            "What is the airspeed of a swallow?",
            "How do I enable two-factor authentication?",
        ),
    ),
)
