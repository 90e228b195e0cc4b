import { spawn, spawnSync } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import { Progress } from '../../src/cli/terminal/progress';
import { pairs, table } from '../../src/cli/terminal/table';
import { Operator, outcomeOf } from '../support/operator';
import { unless } from '../support/redis-server';

/** A terminal as far as a bar needs it. */
const terminal = (columns = 80): WriteStream & { written: string } => {
  const stream = Object.assign(new EventEmitter(), {
    ...{ isTTY: true, columns, written: '' },
    write: (text: string) => (stream.written += text) !== '',
    cursorTo: () => true,
    clearLine: () => true,
    moveCursor: () => true,
  });
  return stream as unknown as WriteStream & { written: string };
};

const NO_SCRIPT = spawnSync('script', ['--version']).status === 0 ? '' : ' (skipped: no script on the PATH)';

describe('what a person sees at a terminal', () => {
  describe('colours', () => {
    const coloured = '\u001B[31merror: ';
    const wrong = ['keys', 'issue'];

    it('are elsewhere only where FORCE_COLOR asks for them', async () => {
      expect((await new Operator({}).spawn(wrong)).stderr).toMatch(/^error: /);
      expect((await new Operator({ FORCE_COLOR: '1' }).spawn(wrong)).stderr).toContain(coloured);
    });

    unless(NO_SCRIPT)(`on a terminal${NO_SCRIPT}`, () => {
      it('are seen, unless there is NO_COLOR', async () => {
        const atTerminal = async (env: NodeJS.ProcessEnv): Promise<string> => {
          const [program = '', ...args] = Operator.command(wrong);
          const line = [program, ...args].map((word) => `'${word}'`).join(' ');
          const child = spawn('script', ['-qec', line, '/dev/null'], {
            env: Operator.environment({ TERM: 'xterm-256color', ...env }),
          });
          return (await outcomeOf(child)).stdout;
        };
        expect(await atTerminal({})).toContain(coloured);
        expect(await atTerminal({ NO_COLOR: '1' })).toMatch(/^error: /);
      });
    });
  });

  describe('a table', () => {
    const rows = [
      ['a', 1, null],
      ['Łódź', 20, 'last'],
    ];
    const head = ['name', 'keys', 'note'];

    it('has two blanks between columns, numbers to the right, and no blanks at the ends of lines', () => {
      const lines = ['name  keys  note', 'a        1', 'Łódź    20  last'];
      expect(stripVTControlCharacters(table(head, rows, 80))).toBe(lines.join('\n'));
    });

    it('is a block a row where the terminal is too narrow for it', () => {
      const lines = ['name  a', 'keys  1', 'note', '', 'name  Łódź', 'keys  20', 'note  last'];
      expect(stripVTControlCharacters(table(head, rows, 15))).toBe(lines.join('\n'));
    });

    it('of names and values is aligned', () => {
      const text = pairs([
        ['Keys', '3 active'],
        ['Migrations', 4],
      ]);
      expect(stripVTControlCharacters(text)).toBe('Keys        3 active\nMigrations  4');
    });
  });

  describe('progress', () => {
    const drawn = (use: (stream: WriteStream) => Progress): string => {
      const stream = terminal(120);
      use(stream).stop();
      return stream.written;
    };

    it('is a bar of the bytes, or of the records where the bytes are unknown, with a rate and the time left', () => {
      const ofBytes = drawn((stream) => {
        const progress = new Progress({ bytes: 2000 }, stream);
        progress.read(1000);
        progress.records(7);
        return progress;
      });
      expect(ofBytes).toMatch(/█{12}░{12} 50% \| 7 records \| 7\/s \| ETA \w+/);
      const ofRecords = drawn((stream) => {
        const progress = new Progress({ records: 40 }, stream);
        progress.records(30);
        return progress;
      });
      expect(ofRecords).toMatch(/█{18}░{6} 75% \| 30 records/);
    });

    it('has no bar where the size is unknown', () => {
      const line = drawn((stream) => {
        const progress = new Progress({}, stream);
        progress.records(45_000);
        return progress;
      });
      expect(line).toMatch(/45,000 records \| 45,000\/s \| 0s/);
      expect(line).not.toContain('%');
    });

    it('is drawn only on a terminal', () => {
      const stream = Object.assign(terminal(), { isTTY: false });
      const progress = new Progress({ bytes: 10 }, stream);
      progress.read(10);
      progress.stop();
      expect(stream.written).toBe('');
    });
  });
});
