/**
 * Names of columns of something else, in which a word of subscription may be another word: Baja is a city,
 * and Spam a surname.
 */
import type { WordTable } from "./languages.ts";

export const otherNames: WordTable = {
  english:
    "city, town, village, place, name, names, surname, nickname, company, organisation, organization, account, street, address, region, province, county, country, title, job, position, product, item, sku, plan, topic, subject, notes, note, comment, comments, description",
  german:
    "ort, stadt, wohnort, vorname, nachname, familienname, firma, straße, land, bemerkung, bemerkungen, notiz, notizen, kommentar",
  french:
    "ville, prénom, nom, société, entreprise, rue, pays, remarque, remarques, commentaire, commentaires",
  spanish:
    "ciudad, localidad, población, nombre, apellido, apellidos, empresa, calle, provincia, país, nota, notas, comentario",
  italian: "città, comune, nome, cognome, azienda, via, provincia, paese, nota, commento",
  portuguese: "cidade, nome, sobrenome, apelido, empresa, rua, país, nota, notas, comentário",
  dutch: "plaats, woonplaats, stad, naam, voornaam, achternaam, bedrijf, straat, opmerking, opmerkingen",
  swedish: "stad, ort, namn, förnamn, efternamn, företag, gata, anteckning",
  danish: "by, navn, fornavn, efternavn, firma, vej, bemærkning",
  norwegian: "by, navn, fornavn, etternavn, firma, gate, merknad",
  finnish: "kaupunki, nimi, etunimi, sukunimi, yritys, katu, huomautus",
  polish: "miasto, imię, nazwisko, firma, ulica, kraj, uwagi",
  czech: "město, jméno, příjmení, firma, ulice, země, poznámka",
  slovak: "mesto, meno, priezvisko, firma, ulica, krajina, poznámka",
  hungarian: "város, név, keresztnév, vezetéknév, cég, utca, ország, megjegyzés",
  romanian: "oraș, nume, prenume, companie, stradă, țară, observații",
  bulgarian: "град, име, фамилия, фирма, улица, бележка",
  croatian: "grad, ime, prezime, tvrtka, ulica, država, napomena",
  slovenian: "mesto, kraj, ime, priimek, podjetje, ulica, država, opomba",
  greek: "πόλη, όνομα, επώνυμο, εταιρεία, οδός, χώρα, σημείωση",
  turkish: "şehir, il, ad, soyad, firma, sokak, ülke, not",
  russian: "город, имя, фамилия, компания, улица, страна, примечание, комментарий",
  ukrainian: "місто, імя, прізвище, компанія, вулиця, країна, примітка",
  lithuanian: "miestas, vardas, pavardė, įmonė, gatvė, pastaba",
  latvian: "pilsēta, vārds, uzvārds, uzņēmums, iela, piezīme",
  estonian: "linn, nimi, eesnimi, perenimi, ettevõte, tänav, märkus",
  japanese: "市区町村, 市, 住所, 名前, 氏名, 姓, 名, 姓名, 会社, 会社名, 備考",
  chinese: "城市, 姓名, 姓, 名, 公司, 街道, 备注, 備註",
  korean: "도시, 이름, 성, 회사, 거리, 비고",
  arabic: "مدينة, اسم, شركة, شارع, ملاحظات",
  hebrew: "עיר, שם, חברה, רחוב, הערות",
  vietnamese: "thành phố, tên, họ, công ty, đường, ghi chú",
  indonesian: "kota, nama, perusahaan, jalan, catatan",
};
