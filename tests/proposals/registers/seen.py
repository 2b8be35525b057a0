"""The half of the registers on which the suggestions were tuned."""

from __future__ import annotations

SEEN = {
    "cmbd": """es ; cp1252
        CIP | cip | IP
        NHC | record | IP
        Fecha nacimiento | born.es | Q
        Sexo | 12 | Q
        Código postal | cp | Q
        Municipio residencia | place.es | Q
        Fecha ingreso | day.es | Q
        Fecha alta | day.es | Q
        Tipo alta | discharge | NQS
        Diagnóstico principal | icd | S
        Procedimiento 1 | icd | S
        GRD | drg | SN
        Coste | cost.es | SN
        Observaciones | notes.es~70 | X""",
    "hospital_2026": """es ; cp1252
        DNI | dni | IP
        Nombre | full.es | I
        Sexo | sex.dirty | Q
        Edad | age!-99,NS/NC | Q
        C.P. | cp | Q
        Nacionalidad | country.es | Q
        Fecha ingreso | day.es | Q
        Fecha alta | day.es~20 | Q
        Servicio | ward.es | QNS
        Diagnóstico | disease.es!NS/NC | S
        Importe | cost.es | SN
        Peso | bodyweight | QS
        Fumador | codes9 | S
        Notas | notes.es~70 | X""",
    "padron": """es ; utf-8
        NIF | dni | IP
        Nombre | first.es | I
        Apellido1 | last.es | I
        Apellido2 | last.es | I
        Fecha de nacimiento | born.es | Q
        Lugar nacimiento | place.es | Q
        País nacionalidad | country.es | Q
        Domicilio | street.es | I
        Sección | section | Q
        Nivel instrucción | study.es | Q
        Id hogar | household | H
        Fecha alta padrón | day.es | Q""",
    "epa": """es tab utf-8
        CICLO | wave | NQ
        CCAA | province | Q
        PROV | province | Q
        NVIVI | household | HI
        EDAD5 | ageband | Q
        SEXO1 | 12 | Q
        ECIV1 | scale5 | Q
        NAC1 | country.iso | Q
        NFORMA | study.es | Q
        OCUP1 | job.es | Q
        HORASP | hours | Q
        FACTOREL | weight.comma | W""",
    "alumnos": """es ; utf-8
        dni | dni | IP
        nom_alumno | comma.es | I
        email | mail | I
        titulacion | degree | Q
        nota_acceso | mark | S
        sexo | HM | Q
        cp | cp | Q
        f_nacimiento | born.es | Q
        becario | yesno | SQN""",
    "nominas": """es ; cp1252
        Id empleado | prefixed | IP
        Nombre y apellidos | full.es | I
        NSS | nss | IP
        IBAN | iban | I
        Puesto | job.es | Q
        Salario bruto | wage.es | S
        Fecha alta empresa | day.es | Q
        Centro de trabajo | hospital | Q
        Grado discapacidad | numbers_none | S""".replace("numbers_none", "scale5"),
    "urgencias": """es ; utf-8
        Episodio | record8 | I
        Paciente | prefixed | IP
        F. entrada | moment.es | Q
        Hora triaje | clock | Q
        Nivel triaje | triage | SNQ
        Motivo consulta | notes.es | X
        Destino | ward | NQS
        Edad | age | Q
        Sexo | sex.es | Q
        Alergias | yesno | S""",
    "ayudas": """es ; utf-8
        expediente | case | I
        titular | full.es | I
        telefono | mobile | I
        renta_anual | wage.es | S
        num_miembros | count | Q
        barrio | place.es | Q
        estado_civil | marital.es | Q
        tipo_ayuda | kind3 | SNQ
        importe_concedido | cost.es | S
        fecha_resolucion | day.dash | Q""",
    "cmbdah": """ca ; utf-8
        CIP | cip | IP
        Data naixement | born.es | Q
        Sexe | sex.ca | Q
        Municipi residència | place.ca | Q
        ABS | hospital | Q
        Data ingrés | day.es | Q
        Data alta | day.es | Q
        Diagnòstic principal | icd | S
        Dies estada | stay | SNQ
        Cost total | cost.es | SN""",
    "padro": """ca ; cp1252
        DNI | dni | IP
        Nom | first.ca | I
        Cognom1 | last.ca | I
        Cognom2 | last.ca | I
        Adreça | street.ca | I
        Data de naixement | born.dash | Q
        Nacionalitat | country.ca | Q
        Estat civil | marital.ca | Q
        Nivell estudis | study.ca | Q
        Telèfon mòbil | mobile | I""",
    "esca": """ca , utf-8
        id | running | I
        pes_mostral | weight | W
        edat | age | Q
        sexe | sex.ca | Q
        comarca | county | Q
        estat_salut | scale5 | S
        tabac | yesno | S
        imc | bmi | SQ
        alcohol | kind3 | S
        llengua_habitual | kind3 | Q
        ingressos_llar | wage | S""",
    "beques": """ca ; utf-8
        Sol·licitant | comma.ca | I
        NIF | dni | IP
        Telèfon | phone | I
        Correu electrònic | mail | I
        Renda familiar | wage.es | S
        Membres unitat familiar | count | Q
        Import | cost.es | S
        Observacions | notes.ca~60 | X""",
    "vacunes": """ca , utf-8
        pacient_id | record | IP
        data_vacuna | day.iso | Q
        vacuna | vaccine | SN
        dosi | discharge | NSQ
        lot | lot | NSQ
        edat | age | Q
        comarca | county | Q
        professió | job.ca | Q""",
    "admissions": """en , utf-8
        subject_id | record | IP
        hadm_id | record8 | I
        admittime | moment | Q
        dischtime | moment | Q
        admission_type | admission | NQS
        insurance | insurer | QSN
        language | tongue | Q
        marital_status | marital.en | Q
        race | race | Q
        hospital_expire_flag | flag | SN
        diagnosis | disease.en | S""",
    "hes": """en , utf-8
        ENCRYPTED_HESID | hashed | IP
        ADMIDATE | day.iso | Q
        DISDATE | day.iso | Q
        STARTAGE | age | Q
        SEX | 12 | Q
        ETHNOS | ethnos | Q
        LSOA11 | lsoa | Q
        DIAG_01 | icd | S
        OPERTN_01 | drg | SN
        NHS_NUMBER | nhs | IP""",
    "adult": """en , utf-8
        age | adult | Q
        workclass | dept | Q
        fnlwgt | weight | W
        education | study.en | Q
        marital-status | marital.en | Q
        occupation | job.en | Q
        race | race | Q
        sex | sex.en | Q
        capital-gain | wage | S
        hours-per-week | hours | Q
        native-country | country.en | Q
        income | kind3 | S""",
    "voters": """en | utf-8
        voter_id | record8 | IP
        last_name | last.en | I
        first_name | first.en | I
        middle_name | first.en~30 | I
        street_address | street.en | I
        city | place.en | Q
        zip | zip | Q
        birth_year | year | Q
        gender | MF | Q
        party | party | S
        registration_date | day.us | Q""",
    "brfss": """en , utf-8
        SEQNO | running | I
        _STATE | fips | Q
        IMONTH | scale10 | QN
        SEXVAR | 12 | Q
        GENHLTH | codes9 | S
        PHYSHLTH | stay!88,99 | S
        MARITAL | codes9 | Q
        EDUCA | codes9 | Q
        INCOME3 | scale10!77,99 | S
        SMOKE100 | codes9 | S
        _LLCPWT | weight | W""",
    "staff": """en , utf-8
        Employee ID | prefixed | IP
        Full Name | full.en | I
        Work Email | mail | I
        Phone | usphone | I
        Hire Date | day.us | Q
        Department | dept | Q
        Job Title | job.en | Q
        Annual Salary | wage.en | S
        Performance Rating | scale5 | S
        Manager comments | notes.en~40 | X""",
    "trial": """en , utf-8
        USUBJID | prefixed | IP
        SITEID | hospital | QN
        RFSTDTC | day.iso | Q
        BRTHDTC | born.iso | Q
        AGE | adult | Q
        SEX | MF | Q
        RACE | race | Q
        ETHNIC | ethnos | Q
        ARM | arm | NS
        COUNTRY | country.iso | Q""",
    "customers": """en , utf-8
        customer_no | record8 | IP
        iban | iban | I
        card_number | card | I
        dob | born.iso | Q
        postcode | ukpost | Q
        balance | cost | S
        credit_score | glucose | S
        last_login_ip | ip | I
        device_id | hashed | I
        notes | notes.en~50 | X""",
    "pmsi": """fr ; cp1252
        N° patient | record | IP
        Nom | last.fr | I
        Prénom | first.fr | I
        Date de naissance | born.es | Q
        Sexe | MF | Q
        Code postal | frpost | Q
        Ville | place.fr | Q
        Date d'entrée | day.es | Q
        Diagnostic principal | icd | S
        Durée de séjour | stay | SNQ
        Téléphone | frphone | I
        Remarques | notes.fr~60 | X""",
    "krankenhaus": """de ; cp1252
        Patientennummer | record | IP
        Nachname | last.de | I
        Vorname | first.de | I
        Geburtsdatum | born.de | Q
        Geschlecht | MF | Q
        PLZ | depost | Q
        Wohnort | place.de | Q
        Aufnahmedatum | day.de | Q
        Hauptdiagnose | icd | S
        Familienstand | marital.de | Q
        Krankenkasse | hospital | QSN
        Bemerkungen | notes.de~60 | X""",
}
