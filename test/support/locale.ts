/**
 * How an empty database is created, with the options of LANYARD_TEST_LOCALE, such as
 * `locale_provider icu icu_locale 'tr-TR' locale 'C.UTF-8'`, where `upper('i')` is `İ`.
 */
export const EMPTY_DATABASE = `template0 encoding 'UTF8' ${process.env.LANYARD_TEST_LOCALE ?? ''}`;
