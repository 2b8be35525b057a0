"""What column names mean: phrases in English, Spanish and Catalan, with the role each suggests."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.data.schema import Kind, Role


@dataclass(frozen=True)
class Meaning:
    """What a name means: a word for people, the role it suggests, its HIPAA type, the kind and bounds it implies."""

    what: str
    role: Role
    words: str
    hipaa: int | None = None
    kind: Kind | None = None
    bounds: tuple[float, float] | None = None
    #: A bare word such as *id* or *code*: says something only when the content agrees.
    weak: bool = False
    #: Does not change from one row of a person to the next.
    fixed: bool = False


IDENTIFIER, QUASI, SENSITIVE = Role.IDENTIFIER, Role.QUASI, Role.SENSITIVE

#: Phrases are separated by commas; each is matched as whole words anywhere in the column name. The first meaning
#: with a matching phrase wins, the longest phrase first.
MEANINGS = (
    # The eighteen identifiers of the HIPAA Safe Harbor, 45 CFR 164.514(b)(2).
    Meaning(
        "name of a person",
        IDENTIFIER,
        """name, first name, given name, last name, family name, surname, full name, maiden name, middle name, patient
        name, nickname, forename, mother name, father name, nombre, nombres, apellido, apellidos, primer apellido,
        segundo apellido, nombre completo, nom, noms, cognom, cognoms, primer cognom, segon cognom, nom complet""",
        hipaa=1,
        fixed=True,
    ),
    Meaning(
        "address",
        IDENTIFIER,
        """address, street, street address, house number, home address, latitude, longitude, lat, lon, lng,
        coordinates, geolocation, gps, direccion, domicilio, calle, numero de casa, latitud, longitud, coordenadas,
        adreca, carrer, domicili, coordenades""",
        hipaa=2,
    ),
    Meaning(
        "telephone number",
        IDENTIFIER,
        """phone, telephone, phone number, telephone number, mobile, mobile number, cell, cell phone, tel, telefono,
        movil, celular, numero de telefono, telefon, mobil""",
        hipaa=4,
    ),
    Meaning(
        "fax number",
        IDENTIFIER,
        "fax, fax number, numero de fax",
        hipaa=5,
    ),
    Meaning(
        "e-mail address",
        IDENTIFIER,
        "email, e mail, mail, email address, correo, correo electronico, correu, correu electronic",
        hipaa=6,
    ),
    Meaning(
        "social security number",
        IDENTIFIER,
        """ssn, social security, social security number, nss, naf, seguridad social, numero de seguridad social,
        seguretat social, numero de seguretat social""",
        hipaa=7,
    ),
    Meaning(
        "medical record number",
        IDENTIFIER,
        """mrn, medical record, medical record number, record number, chart number, nhc, historia clinica, numero de
        historia, numero de historia clinica, num historia""",
        hipaa=8,
    ),
    Meaning(
        "health plan number",
        IDENTIFIER,
        """beneficiary, beneficiary number, health plan, health plan number, insurance number, policy number, member
        id, member number, nhs number, health card, tarjeta sanitaria, numero de asegurado, numero de poliza,
        targeta sanitaria, cip, tsi, numero d assegurat""",
        hipaa=9,
    ),
    Meaning(
        "account number",
        IDENTIFIER,
        """account, account number, iban, bank account, credit card, card number, cuenta, cuenta bancaria, numero de
        cuenta, tarjeta, tarjeta de credito, numero de tarjeta, compte, compte bancari, numero de compte, targeta,
        targeta de credit""",
        hipaa=10,
    ),
    Meaning(
        "certificate or licence number",
        IDENTIFIER,
        """license, licence, license number, licence number, driver license, drivers license, driving licence,
        certificate number, carnet de conducir, permiso de conducir, numero de licencia, numero de certificado,
        numero de colegiado, carnet de conduir, permis de conduir, numero de llicencia, numero de col legiat""",
        hipaa=11,
    ),
    Meaning(
        "vehicle identifier",
        IDENTIFIER,
        """vin, plate, license plate, licence plate, number plate, vehicle id, vehicle number, matricula, numero de
        matricula, bastidor, numero de bastidor, placa""",
        hipaa=12,
    ),
    Meaning(
        "device identifier",
        IDENTIFIER,
        """device id, device identifier, serial number, imei, imsi, mac address, device serial, udid, numero de serie,
        id dispositivo, identificador de dispositivo, id dispositiu""",
        hipaa=13,
    ),
    Meaning(
        "web address",
        IDENTIFIER,
        "url, website, web page, homepage, web, pagina web, sitio web, lloc web",
        hipaa=14,
    ),
    Meaning(
        "network address",
        IDENTIFIER,
        "ip, ip address, ipv4, ipv6, direccion ip, adreca ip",
        hipaa=15,
    ),
    Meaning(
        "biometric identifier",
        IDENTIFIER,
        """fingerprint, voiceprint, iris, retina, biometric, biometrics, dna, genome, huella, huella dactilar, huella
        digital, voz, adn, genoma, empremta, empremta dactilar, veu""",
        hipaa=16,
        fixed=True,
    ),
    Meaning(
        "picture",
        IDENTIFIER,
        """photo, photograph, picture, image, face, portrait, foto, fotografia, imagen, rostro, retrato, imatge,
        rostre, retrat""",
        hipaa=17,
        fixed=True,
    ),
    Meaning(
        "national identity number",
        IDENTIFIER,
        """dni, nie, nif, rut, cpf, curp, cuil, cuit, passport, passport number, national id, national number, identity
        number, identity card, tax id, tin, pasaporte, cedula, cedula de identidad, documento de identidad, numero
        de identificacion, numero de documento, passaport, document d identitat, numero d identificacio""",
        hipaa=18,
        fixed=True,
    ),
    Meaning(
        "user name",
        IDENTIFIER,
        "username, user name, login, handle, usuario, nombre de usuario, usuari",
        hipaa=18,
    ),
    # Roles in the statistics of the file.
    Meaning(
        "sampling weight",
        Role.WEIGHT,
        """sampling weight, survey weight, sample weight, design weight, person weight, household weight, household
        weights, final weight, weight factor, fnlwgt, wgt, wt, pweight, expansion factor, factor de expansion,
        factor expansion, ponderacion, peso muestral, peso de muestreo, factor de elevacion, pes mostral,
        ponderacio, factor d expansio, factor d elevacio""",
        kind=Kind.NUMERIC,
    ),
    Meaning(
        "household number",
        Role.HOUSEHOLD,
        """household, household id, household number, hid, hhid, hh id, family id, hogar, id hogar, numero de hogar,
        vivienda, id vivienda, llar, id llar, habitatge, id habitatge""",
    ),
    Meaning(
        "stratum",
        Role.STRATUM,
        "stratum, strata, estrato, estrat",
    ),
    Meaning(
        "person number",
        Role.PERSON,
        """person id, person, patient id, patient, patient number, subject, subject id, participant, participant id,
        respondent, respondent id, client id, customer id, customer, employee id, student id, pid, persona, id
        persona, paciente, id paciente, sujeto, participante, id cliente, id alumno, id empleado, pacient, id
        pacient, subjecte, id alumne, id client, id empleat""",
        hipaa=18,
    ),
    # Sensitive: what nobody wants inferred. Special categories of the GDPR, article 9, money, offences.
    Meaning(
        "health",
        SENSITIVE,
        """disease, diagnosis, diagnoses, illness, condition, comorbidity, symptom, symptoms, treatment, medication,
        drug, prescription, procedure, surgery, therapy, icd, icd9, icd10, drg, hiv, aids, cancer, tumor, diabetes,
        pregnancy, pregnant, abortion, disability, mental health, depression, allergy, allergies, blood type, blood
        pressure, cholesterol, glucose, bmi, lab result, test result, viral load, vaccine, smoker, smoking, alcohol,
        health, health status, cause of death, outcome, enfermedad, diagnostico, diagnosticos, dolencia, sintoma,
        sintomas, tratamiento, medicacion, farmaco, medicamento, intervencion, cirugia, terapia, cie, cie9, cie10,
        vih, sida, embarazo, embarazada, aborto, discapacidad, salud, salud mental, depresion, alergia, alergias,
        tension, colesterol, glucosa, imc, vacuna, fumador, fumadora, causa de muerte, malaltia, diagnostic,
        diagnostics, simptoma, simptomes, tractament, medicacio, farmac, medicament, intervencio, cirurgia, cim,
        cim10, embaras, embarassada, avortament, discapacitat, salut, salut mental, depressio, allergia, al lergia,
        causa de mort""",
    ),
    Meaning(
        "belief or opinion",
        SENSITIVE,
        """religion, faith, political party, politics, political opinion, vote, voted, ideology, union, trade union,
        union member, partido, partido politico, voto, ideologia, sindicato, afiliacion sindical, creencia,
        creencias, religio, partit, partit politic, vot, sindicat, afiliacio sindical, creences""",
    ),
    Meaning(
        "sexual life",
        SENSITIVE,
        """sexual orientation, sexuality, sex partners, orientacion sexual, orientacio sexual, sexualitat,
        sexualidad""",
    ),
    Meaning(
        "offence",
        SENSITIVE,
        """crime, offence, offense, conviction, criminal record, arrest, sentence, delito, condena, antecedentes,
        antecedentes penales, delicte, antecedents, antecedents penals""",
    ),
    Meaning(
        "money",
        SENSITIVE,
        """income, salary, salary class, wage, wages, earnings, pay, revenue, debt, debts, loan, mortgage, savings,
        assets, wealth, balance, capital gain, capital loss, benefit, pension, expend, expenditure, expenses,
        spending, money, tax, credit score, ingreso, ingresos, renta, salario, sueldo, nomina, deuda, deudas,
        prestamo, hipoteca, ahorro, ahorros, patrimonio, saldo, gasto, gastos, prestacion, impuesto, impuestos,
        ingressos, renda, salari, sou, deute, deutes, prestec, estalvi, estalvis, patrimoni, despesa, despeses,
        prestacio, impost, impostos""",
    ),
    Meaning(
        "grade or evaluation",
        SENSITIVE,
        """grade, grades, gpa, exam result, evaluation, performance rating, nota, notas, calificacion, calificaciones,
        evaluacion, notes finals, qualificacio, qualificacions, avaluacio""",
    ),
    # Quasi-identifiers: what others may know.
    Meaning(
        "birth date",
        QUASI,
        """birth, birth date, birthdate, birthday, date of birth, dob, born, fecha de nacimiento, fecha nacimiento,
        nacimiento, fnac, fecha nac, data de naixement, data naixement, naixement""",
        hipaa=3,
        kind=Kind.DATE,
        fixed=True,
    ),
    Meaning(
        "birth year",
        QUASI,
        "birth year, year of birth, yob, ano de nacimiento, ano nacimiento, any de naixement, any naixement",
        kind=Kind.NUMERIC,
        bounds=(1900, 2100),
        fixed=True,
    ),
    Meaning(
        "age",
        QUASI,
        "age, ages, edad, edat, anos, age group, age range, grupo de edad, grup d edat",
        hipaa=3,
        kind=Kind.NUMERIC,
        bounds=(0, 120),
    ),
    Meaning(
        "sex",
        QUASI,
        "sex, gender, sexo, genero, sexe, genere",
        kind=Kind.NOMINAL,
        fixed=True,
    ),
    Meaning(
        "postcode",
        QUASI,
        """zip, zip code, zipcode, postcode, postal code, post code, cp, codigo postal, cod postal, codpostal, codi
        postal""",
        hipaa=2,
        kind=Kind.NOMINAL,
    ),
    Meaning(
        "place",
        QUASI,
        """city, town, municipality, county, district, neighbourhood, neighborhood, village, parish, precinct, census
        tract, census section, place, place of residence, residence, ciudad, pueblo, localidad, municipio, comarca,
        distrito, barrio, poblacion, lugar, residencia, seccion censal, ciutat, poble, municipi, districte, barri,
        poblacio, lloc, seccio censal""",
        hipaa=2,
        kind=Kind.NOMINAL,
    ),
    Meaning(
        "region or country",
        QUASI,
        """state, region, province, country, nationality, native country, citizenship, birthplace, place of birth,
        country of birth, urbrur, estado, provincia, pais, nacionalidad, ciudadania, lugar de nacimiento, pais de
        nacimiento, comunidad autonoma, ccaa, estat, regio, nacionalitat, ciutadania, lloc de naixement, pais de
        naixement""",
        kind=Kind.NOMINAL,
    ),
    Meaning(
        "origin",
        QUASI,
        "race, ethnicity, etni, ethnic group, origin, raza, etnia, origen, raca",
        kind=Kind.NOMINAL,
        fixed=True,
    ),
    Meaning(
        "family situation",
        QUASI,
        """marital, marital status, civil status, marstat, relationship, relat, hhcivil, children, number of children,
        family size, household size, estado civil, hijos, numero de hijos, parentesco, estat civil, fills, nombre de
        fills, parentiu""",
    ),
    Meaning(
        "education",
        QUASI,
        """education, educ, education num, education level, schooling, degree, studies, qualification, educacion, nivel
        educativo, nivel de estudios, estudios, titulacion, educacio, nivell educatiu, nivell d estudis, estudis,
        titulacio""",
    ),
    Meaning(
        "work",
        QUASI,
        """occupation, profession, job, job title, employer, company, workclass, industry, sector, employment,
        employment status, hours per week, ocupacion, profesion, oficio, trabajo, puesto, empresa, empleador,
        situacion laboral, ocupacio, professio, ofici, feina, lloc de treball, situacio laboral""",
    ),
    Meaning(
        "language",
        QUASI,
        "language, mother tongue, idioma, lengua, lengua materna, llengua, llengua materna",
    ),
    Meaning(
        "body",
        QUASI,
        """height, weight, weight kg, body weight, eye colour, eye color, hair colour, hair color, estatura, altura,
        peso, peso kg, alcada, pes""",
    ),
    Meaning(
        "date of an event",
        QUASI,
        """date, admission, admission date, discharge, discharge date, visit date, date of death, death date, date of
        visit, hire date, start date, end date, timestamp, fecha, fecha de ingreso, fecha de alta, fecha de visita,
        fecha de muerte, fecha de defuncion, data, data d ingres, data d alta, data de visita, data de mort, data de
        defuncio""",
        hipaa=3,
    ),
    # Bare words that need the content to agree.
    Meaning(
        "number or code of its own",
        IDENTIFIER,
        """id, identifier, identifiers, uid, uuid, guid, key, rowid, row id, index, no, num, number, ref, reference,
        code, record, case, case id, identificador, numero, clave, codigo, referencia, expediente, caso, clau, codi,
        expedient, cas""",
        hipaa=18,
        weak=True,
    ),
)
