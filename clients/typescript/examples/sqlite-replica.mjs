// Keeps a SQLite database equal to your records. Kill it at any time: the next run continues. It needs Node.js 22.13 or later
// and @lanyard/client. With --follow it continues with new changes until you end it.
//
//   LANYARD_KEY=lan_… node sqlite-replica.mjs copy.sqlite [--follow]
import { DatabaseSync } from 'node:sqlite';
import { Lanyard } from '@lanyard/client';

const [file = 'copy.sqlite', option] = process.argv.slice(2);
const database = new DatabaseSync(file);
database.exec(`
  create table if not exists records (
    resource text, key text, mark integer not null, record text not null, primary key (resource, key));
  create table if not exists replica (id integer primary key check (id = 1), cursor text not null);
`);

const loadCursor = database.prepare('select cursor from replica');
const saveCursor = database.prepare('insert or replace into replica values (1, ?)');
const upsert = database.prepare('insert or replace into records values (?, ?, ?, ?)');
const remove = database.prepare('delete from records where resource = ? and key = ?');
const sweep = database.prepare('delete from records where mark < ?');

const store = {
  loadCursor: () => loadCursor.get()?.cursor,
  saveCursor: (cursor) => saveCursor.run(cursor),
  upsert: ({ resource, key, mark, record }) => upsert.run(resource, key, mark, JSON.stringify(record)),
  delete: (resource, key) => remove.run(resource, key),
  sweep: (mark) => sweep.run(mark),
  async transaction(write) {
    database.exec('begin');
    try {
      await write();
      database.exec('commit');
    } catch (error) {
      database.exec('rollback');
      throw error;
    }
  },
};

const lanyard = new Lanyard({
  baseUrl: process.env.LANYARD_URL ?? 'http://localhost:3000/api/v0',
  key: process.env.LANYARD_KEY ?? '',
});
await lanyard.replicate(store, { follow: option === '--follow', limit: 500 });
console.log(`${file} has ${database.prepare('select count(*) as count from records').get().count} records`);
