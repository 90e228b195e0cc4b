/** @jest-environment node */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as ts from 'typescript';

const ROOT = join(__dirname, '../..');

const sourceFiles = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file))
    .sort();

const parse = (file: string): ts.SourceFile =>
  ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest, true);

const isExported = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);

/** The names that a file declares and exports. A type and a value with one name count once. */
function exportedNames(file: string): string[] {
  const names = new Set<string>();
  for (const statement of parse(file).statements.filter(isExported)) {
    const declarations = ts.isVariableStatement(statement) ? statement.declarationList.declarations : [statement];
    for (const declaration of declarations) {
      const { name } = declaration as ts.Node & { name?: ts.Node };
      if (name && ts.isIdentifier(name)) names.add(name.text);
    }
  }
  return [...names];
}

/** The text of a docstring up to its first tag, without the asterisks. */
const proseOf = (docstring: string): string =>
  docstring
    .replace(/^\/\*\*|\*\/$/g, '')
    .replace(/^\s*\* ?/gm, '')
    .split(/(?:^|\s)@(?:example|internal|param|returns|throws)\b/)[0]!
    .trim();

/** A capital letter, a digit or a quoted name, and at the end a full stop or a colon before an example. */
const isWholeSentence = (prose: string): boolean => /^["'`\p{Lu}\d]/u.test(prose) && /[.:!?]["'`)]?$/.test(prose);

describe('the names of the code', () => {
  it.each(['src', 'test/support'])('are exported by one file of %s each', (folder) => {
    const filesByName = new Map<string, string[]>();
    for (const file of sourceFiles(folder)) {
      for (const name of exportedNames(file)) filesByName.set(name, [...(filesByName.get(name) ?? []), file]);
    }
    expect(filesByName.size).toBeGreaterThan(50);
    expect([...filesByName].filter(([, files]) => files.length > 1)).toEqual([]);
  });

  it('are documented in whole sentences', () => {
    const fragments: string[] = [];
    for (const file of sourceFiles('src')) {
      for (const [docstring] of readFileSync(join(ROOT, file), 'utf8').matchAll(/\/\*\*[^]*?\*\//g)) {
        const prose = proseOf(docstring);
        if (prose !== '' && !isWholeSentence(prose)) fragments.push(`${file}: ${prose}`);
      }
    }
    expect(fragments).toEqual([]);
  });
});
