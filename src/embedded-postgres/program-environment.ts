/** Everything else (PGPORT, TZ, LC_ALL, passwords) stays out: it would change PostgreSQL or tell it secrets. */
const PASSED = ['PATH', 'LD_LIBRARY_PATH', 'TMPDIR', 'TEMP', 'TMP', 'SYSTEMROOT', 'WINDIR', 'COMSPEC'];

/** The environment of PostgreSQL's programs. */
export function programEnvironment(extra: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const passed = Object.entries(process.env).filter(([name]) => PASSED.includes(name.toUpperCase()));
  return { ...Object.fromEntries(passed), LC_ALL: 'C', TZ: 'UTC', ...extra };
}
