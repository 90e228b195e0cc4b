// npm run api: writes the declarations of the package's public API to docs/api/, with their docstrings and without private
// members, so that a change of the API is seen in a diff. `node scripts/api.mjs --check [FOLDER…]` compares them with the files of folders.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as prettier from 'prettier';
import ts from 'typescript';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const FOLDER = join(ROOT, 'docs/api');
/** What a file is called in docs/api/, and what the package exports. */
const ENTRIES = { 'lanyard.d.ts': 'src/index', 'testing.d.ts': 'src/testing/index' };

/** A program of the declarations that the build would emit. */
function declarationsOf(entries) {
  const config = ts.getParsedCommandLineOfConfigFile(
    join(ROOT, 'tsconfig.build.json'),
    {},
    {
      ...ts.sys,
      onUnRecoverableConfigFileDiagnostic: ({ messageText }) => {
        throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
      },
    },
  );
  // `npm run types` has checked them.
  const options = { ...config.options, incremental: false, outDir: undefined, rootDir: ROOT, noCheck: true };
  const files = new Map();
  const sources = ts.createProgram(
    entries.map((entry) => join(ROOT, `${entry}.ts`)),
    options,
  );
  sources.emit(undefined, (file, text) => files.set(file, text), undefined, true);
  // The declarations stand where the sources do, and are found before them.
  const host = ts.createCompilerHost(options);
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = (file) => files.has(file) || (!isSource(file) && fileExists(file));
  host.readFile = (file) => files.get(file) ?? readFile(file);
  host.getSourceFile = (file, version, ...rest) =>
    files.has(file) ? ts.createSourceFile(file, files.get(file), version, true) : getSourceFile(file, version, ...rest);
  return ts.createProgram(
    entries.map((entry) => join(ROOT, `${entry}.d.ts`)),
    { ...options, noEmit: true },
    host,
  );
}

const isSource = (file) => file.startsWith(join(ROOT, 'src')) && /(?<!\.d)\.ts$/.test(file);
const isOurs = (node) => node.getSourceFile().fileName.startsWith(join(ROOT, 'src'));

/** The declarations that an entry exports, and those that they name. */
class Api {
  names = new Map(); // by symbols
  exported = new Map(); // the names that the entry gives to symbols
  imports = new Map(); // names by packages
  pending = [];

  constructor(checker, elsewhere = new Map()) {
    this.checker = checker;
    this.elsewhere = elsewhere;
  }

  textOf(entry) {
    for (const symbol of this.checker.getExportsOfModule(entry)) this.exported.set(this.resolve(symbol), symbol.name);
    for (const symbol of this.exported.keys()) this.add(symbol);
    const texts = { exported: [], named: [] };
    for (let symbol = this.pending.shift(); symbol; symbol = this.pending.shift()) {
      const isExported = this.exported.has(symbol);
      const name = this.names.get(symbol);
      if (isExported && this.exported.get(symbol) !== name) throw new Error(`${name} is exported by another name`);
      texts[isExported ? 'exported' : 'named'].push({ name, text: this.declarationsIn(symbol, isExported) });
    }
    const imports = [...this.imports].map(
      ([from, names]) => `import { ${[...names].sort().join(', ')} } from '${from}';`,
    );
    const sorted = (list) => list.sort((one, other) => (one.name < other.name ? -1 : 1)).map(({ text }) => text);
    const named = texts.named.length > 0 ? ['// Not exported, but named above.', ...sorted(texts.named)] : [];
    return [...imports.sort(), ...sorted(texts.exported), ...named, 'export {};'].join('\n\n');
  }

  resolve(symbol) {
    return symbol.flags & ts.SymbolFlags.Alias ? this.checker.getAliasedSymbol(symbol) : symbol;
  }

  /** @returns the name of the symbol in this file; two that are not exported may have the same one in theirs */
  add(symbol) {
    const known = this.names.get(symbol);
    if (known) return known;
    const taken = new Set(this.names.values());
    let name = symbol.name;
    for (let n = 2; taken.has(name); n++) name = `${symbol.name}${n}`;
    this.names.set(symbol, name);
    this.pending.push(symbol);
    return name;
  }

  import(from, name) {
    this.imports.set(from, (this.imports.get(from) ?? new Set()).add(name));
  }

  declarationsIn(symbol, isExported) {
    const printer = ts.createPrinter();
    return symbol.declarations
      .filter(isOurs)
      .map((node) => (ts.isVariableDeclaration(node) ? node.parent.parent : node))
      .map((node) => {
        const { transformed } = ts.transform(node, [(context) => (root) => this.visit(context, root)]);
        const text = printer.printNode(ts.EmitHint.Unspecified, transformed[0], node.getSourceFile());
        const [, comments, declaration] =
          /^((?:\s*\/\*[^]*?\*\/\s*|\s*\/\/.*\n)*)(?:export )?(?:declare )?([^]*)$/.exec(text);
        const isType = ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node);
        return `${comments}${isExported ? 'export ' : ''}${isType ? '' : 'declare '}${declaration}`;
      })
      .join('\n');
  }

  /** The node without private members, and with the names by which this file has what it names. */
  visit(context, node) {
    const visit = (child) => {
      if (ts.isClassDeclaration(child)) {
        const isPrivate = (member) => (ts.getCombinedModifierFlags(member) & ts.ModifierFlags.Private) !== 0;
        // The constructor of a provider is for Nest alone.
        const hidden = (member) =>
          isPrivate(member) || (ts.isConstructorDeclaration(member) && child.members.some(isPrivate));
        const { modifiers, name, typeParameters, heritageClauses, members } = child;
        const shown = members.filter((member) => !hidden(member));
        child = context.factory.updateClassDeclaration(child, modifiers, name, typeParameters, heritageClauses, shown);
      }
      if (ts.isImportTypeNode(child) && ts.isIdentifier(child.qualifier)) {
        const name = this.nameOf(child.qualifier);
        const types = child.typeArguments?.map((type) => ts.visitNode(type, visit));
        if (name) return context.factory.createTypeReferenceNode(name, types);
      }
      if (ts.isIdentifier(child)) {
        const name = this.nameOf(child);
        if (name && name !== child.text) return context.factory.createIdentifier(name);
      }
      return ts.visitEachChild(child, visit, context);
    };
    return ts.visitNode(node, visit);
  }

  /** The name of what an identifier refers to, when that is declared at the top of a file of ours, or imported. */
  nameOf(identifier) {
    const found = identifier.pos >= 0 ? this.checker.getSymbolAtLocation(identifier) : undefined;
    const symbol = found && this.resolve(found);
    const [declaration] = symbol?.declarations ?? [];
    if (!declaration) return undefined;
    if (isOurs(declaration)) {
      const statement = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
      const isTop = ts.isSourceFile(statement.parent);
      if (!isTop) return undefined;
      if (this.elsewhere.has(symbol)) this.import('lanyard', symbol.name);
      return this.elsewhere.has(symbol) ? symbol.name : this.add(symbol);
    }
    const specifier = found.declarations.find(ts.isImportSpecifier);
    if (specifier)
      this.import(specifier.parent.parent.parent.moduleSpecifier.text, specifier.getText().replace(/^type /, ''));
    return undefined;
  }
}

/** The texts of the files of docs/api/, by their names. */
export async function apiFiles() {
  const program = declarationsOf(Object.values(ENTRIES));
  const checker = program.getTypeChecker();
  const options = { ...(await prettier.resolveConfig(join(FOLDER, 'lanyard.d.ts'))), parser: 'typescript' };
  const files = new Map();
  let elsewhere;
  for (const [file, entry] of Object.entries(ENTRIES)) {
    const source = program.getSourceFile(join(ROOT, `${entry}.d.ts`));
    const module = checker.getSymbolAtLocation(source);
    const api = new Api(checker, elsewhere);
    const text = module ? api.textOf(module) : 'export {};';
    files.set(file, await prettier.format(`${HEAD}\n\n${text}`, options));
    elsewhere = api.exported;
  }
  return files;
}

const HEAD = '// The public API of the package, by `npm run api`. CHANGELOG.md announces each change of it.';

const differs = (file, text) => {
  try {
    return readFileSync(file, 'utf8') !== text;
  } catch {
    return true;
  }
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = await apiFiles();
  if (process.argv[2] === '--check') {
    const folders = process.argv.length > 3 ? process.argv.slice(3) : [FOLDER];
    for (const file of folders.flatMap((folder) => [...files.keys()].map((name) => join(folder, name)))) {
      if (!differs(file, files.get(basename(file)))) continue;
      process.stderr.write(
        `The public API is not what ${relative(ROOT, file)} has. Run "npm run api", and announce the change in CHANGELOG.md.\n`,
      );
      process.exitCode = 1;
    }
  } else {
    mkdirSync(FOLDER, { recursive: true });
    for (const [name, text] of files) writeFileSync(join(FOLDER, name), text);
  }
}
