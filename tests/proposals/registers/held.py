"""The half of the registers that was set apart: written before the suggestions were tuned, and not looked into since."""

from __future__ import annotations

HELD = {
    "tumores": """es ; cp1252
        NUM_REGISTRO | record8 | I
        APELLIDO1 | last.es | I
        APELLIDO2 | last.es | I
        NOMBRE | first.es | I
        FECHA_NAC | born.es | Q
        SEXO | 12 | Q
        MUNICIPIO_RES | place.es | Q
        FECHA_INCIDENCIA | day.es | Q
        TOPOGRAFIA | topography | S
        MORFOLOGIA | drg | S
        ESTADIO | stage | S
        FECHA_DEFUNCION | day.es~60 | Q
        CAUSA_MUERTE | icd~60 | S""",
    "receta": """es ; utf-8
        CIPA | record8 | IP
        Num. colegiado | record | I
        Fecha dispensación | day.es | Q
        Código ATC | atc | S
        Principio activo | drug | S
        Envases | count | NSQ
        Importe total | cost.es | SN
        Aportación usuario | cost.es | SN
        Año nacimiento | year | Q
        Sexo | HM | Q
        Zona básica salud | hospital | Q""",
    "contribuyentes": """es ; cp1252
        NIF declarante | dni | IP
        Apellidos y nombre | comma.es | I
        Domicilio fiscal | street.es | I
        Código postal | cp | Q
        Base imponible | wage.es | S
        Rendimientos trabajo | wage.es | S
        Cuota íntegra | cost.es | S
        Nº hijos | count | Q
        Estado civil | marital.es | Q
        Cuenta devolución | iban | I
        Correo electrónico | mail | I""",
    "accidentes": """es ; utf-8
        ID_ACCIDENTE | case | I
        FECHA_HORA | moment.es | Q
        PROVINCIA | province.es | Q
        MUNICIPIO | place.es | Q
        MATRICULA | plate | I
        EDAD_CONDUCTOR | adult!999 | Q
        SEXO_CONDUCTOR | sex.es | Q
        NACIONALIDAD | country.es | Q
        LESIVIDAD | triage | S
        TASA_ALCOHOL | numbers | S
        LATITUD | latitude | I
        LONGITUD | longitude | I""".replace("| numbers |", "| gpa |"),
    "matricula_escolar": """es ; utf-8
        Núm. expediente | case | I
        Alumno/a | comma.es | I
        F. nac. | born.es | Q
        Tutor legal | full.es | I
        Teléfono contacto | mobile | I
        Centro | centre | Q
        Curso | scale5 | QN
        Necesidades educativas | yesno | S
        Nota media | mark | S
        Beca comedor | yesno | SNQ
        Comentarios tutor | notes.es~60 | X""",
    "justicia": """es ; utf-8
        Nº procedimiento | case | I
        Solicitante | full.es | I
        DNI/NIE | dni | IP
        Fecha solicitud | day.es | Q
        Partido judicial | place.es | Q
        Delito | disease.es | S
        Ingresos mensuales | wage.es | S
        Nacionalidad | country.es | Q
        Profesión | job.es | Q""",
    "salud_laboral": """es ; cp1252
        Cod_trabajador | prefixed | IP
        Empresa | centre | Q
        Puesto de trabajo | job.es | Q
        Fecha reconocimiento | day.dash | Q
        Edad | adult!-1 | Q
        Talla | height | QS
        Peso (kg) | bodyweight | QS
        TA sistólica | pressure | S
        Colesterol | glucose | S
        Apto | yesno | SN
        Observaciones médicas | notes.es~75 | X""",
    "urgencies": """ca ; utf-8
        Núm. història | record | IP
        Data i hora entrada | moment.es | Q
        Codi postal | cpca | Q
        Edat | age!-9 | Q
        Sexe | sex.ca | Q
        Motiu de consulta | notes.ca | X
        Nivell triatge | triage | SNQ
        Diagnòstic | disease.ca | S
        Destinació alta | ward | NQS
        Metge responsable | full.ca | I""",
    "serveis_socials": """ca ; cp1252
        Expedient | case | I
        Nom i cognoms | full.ca | I
        Document identitat | dni | IP
        Telèfon | phone | I
        Barri | place.ca | Q
        Data naixement | born.es | Q
        País d'origen | country.ca | Q
        Grau dependència | stage | S
        Prestació | kind3 | S
        Import mensual | cost.es | S
        Notes | notes.ca~55 | X""",
    "alumnat": """ca , utf-8
        niub | record8 | IP
        nom | first.ca | I
        primer_cognom | last.ca | I
        correu | mail | I
        ensenyament | degree | Q
        via_acces | kind3 | QN
        nota_tall | gpa | S
        municipi_familiar | place.ca | Q
        sexe | HM | Q
        data_naixement | born.iso | Q
        estudis_pare | study.ca | Q""",
    "mobilitat": """ca ; utf-8
        id_llar | household | H
        id_persona | record | IP
        factor_expansio | weight.comma | W
        edat | age | Q
        genere | sex.ca | Q
        municipi_residencia | place.ca | Q
        ocupacio | job.ca | Q
        carnet_conduir | yesno | NQS
        nombre_vehicles | count | QN
        hora_sortida | clock | QN
        estrat | stratum | T""",
    "cancer_registre": """ca ; utf-8
        codi_cas | record8 | I
        nom_complet | comma.ca | I
        data_diagnostic | day.es | Q
        data_naix | born.es | Q
        sexe | 12 | Q
        localitzacio | topography | S
        estadi | stage | S
        tractament | drug | S
        hospital | hospital | QN
        data_defuncio | day.es~70 | Q""",
    "nhanes": """en , utf-8
        SEQN | running | I
        RIAGENDR | 12 | Q
        RIDAGEYR | age | Q
        RIDRETH3 | scale5 | Q
        DMDMARTL | codes9 | Q
        DMDEDUC2 | codes9 | Q
        INDFMPIR | gpa | S
        WTMEC2YR | weight | W
        BMXWT | bodyweight | QS
        BMXHT | height | QS
        LBXGLU | glucose | S""",
    "cps": """en , utf-8
        HRHHID | household | HI
        PERIDNUM | record8 | IP
        STATEFIP | fips | Q
        AGE | age | Q
        SEX | 12 | Q
        RACE | race | Q
        MARST | scale5 | Q
        EDUC | scale10 | Q
        OCC | drg | Q
        INCTOT | wage | S
        ASECWT | weight | W""",
    "discharges": """en tab utf-8
        RECORD_ID | record8 | I
        DISCHARGE | month | Q
        PAT_AGE | age | Q
        SEX_CODE | MF | Q
        PAT_ZIP | zip | Q
        PAT_COUNTRY | country.iso | Q
        RACE | race | Q
        ETHNICITY | ethnos | Q
        PRINC_DIAG_CODE | icd | S
        TOTAL_CHARGES | cost | SN
        LENGTH_OF_STAY | stay | SNQ
        ATTENDING_PHYSICIAN_UNIF_ID | record8 | I""",
    "stops": """en , utf-8
        stop_id | running | I
        officer_badge | prefixed | I
        stop_datetime | moment | Q
        location | street.en | I
        driver_name | full.en | I
        driver_age | adult | Q
        driver_race | race | Q
        driver_sex | MF | Q
        license_plate | plate | I
        violation | crime | S
        arrest_made | flag | S
        narrative | notes.en~20 | X""",
    "biobank": """en , utf-8
        eid | record8 | IP
        year_of_birth | year | Q
        sex | sex.en | Q
        townsend_index | gpa | QS
        ethnic_background | race | Q
        smoking_status | kind3 | S
        systolic_bp | pressure | S
        standing_height | height | QS
        date_of_attending | day.iso | Q
        employment_status | job.en | Q""",
    "telecom": """en , utf-8
        account_id | record8 | IP
        msisdn | intphone | I
        subscriber | full.en | I
        email_address | mail | I
        billing_address | street.en | I
        postal_code | zip9 | Q
        imei | card | I
        monthly_charges | cost | SN
        signup_date | day.iso | Q
        tenure_months | stay | QNS""",
    "pupils": """en , utf-8
        UPN | hashed | IP
        Surname | last.en | I
        Forename | first.en | I
        Date of Birth | born.es | Q
        Gender | MF | Q
        Ethnicity | race | Q
        First Language | tongue | Q
        FSM Eligible | yesno.en | SQ
        SEN Status | kind3 | S
        Home Postcode | ukpost | Q
        Attainment 8 | bmi | S""",
    "claims": """en , utf-8
        claim_number | record8 | I
        member_id | prefixed | IP
        patient_first_name | first.en | I
        patient_dob | born.us | Q
        ssn | ssn | IP
        service_date | day.us | Q
        provider_npi | record8 | I
        icd10_code | icd | S
        billed_amount | wage.en | SN
        zip_code | zip | Q""",
    "covid": """en , utf-8
        case_id | uuid | I
        report_date | day.iso | Q
        age_group | ageband | Q
        gender | sex.en | Q
        county | place.en | Q
        race_ethnicity | race | Q
        symptom_onset | day.iso~40 | Q
        hospitalized | yesno.en | S
        died | yesno.en | S
        contact_phone | usphone | I
        comments | notes.en~70 | X""",
    "sdo": """it ; cp1252
        Codice fiscale | passport | IP
        Cognome | last.es | I
        Nome | first.es | I
        Data di nascita | born.es | Q
        Sesso | MF | Q
        Comune di residenza | place.fr | Q
        CAP | frpost | Q
        Data ricovero | day.es | Q
        Diagnosi principale | icd | S
        Giorni di degenza | stay | SNQ
        Cittadinanza | country.iso | Q
        Note | notes.fr~60 | X""",
    "internamentos": """pt ; utf-8
        Número de utente | record8 | IP
        Nome completo | full.es | I
        Data de nascimento | born.dash | Q
        Género | MF | Q
        Código postal | frpost | Q
        Concelho | place.es | Q
        Data de admissão | day.dash | Q
        Diagnóstico principal | icd | S
        Estado civil | marital.es | Q
        Profissão | job.es | Q
        Telemóvel | mobile | I
        Rendimento mensal | wage.es | S""",
}
