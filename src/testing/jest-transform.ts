import { hash } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type TypeScript from 'typescript';
import { version } from '../../package.json';

interface JestOptions {
  config: { rootDir: string };
  configString: string;
}

type Compiler = ReturnType<typeof compilerOf>;

/** Loads the project's TypeScript, with the options of its tsconfig.json or, if it has none, of the one for extensions. */
function compilerOf(rootDir: string) {
  const ts = createRequire(join(rootDir, 'package.json'))('typescript') as typeof TypeScript;
  const file = ts.findConfigFile(rootDir, ts.sys.fileExists) ?? join(__dirname, '../../../extension.tsconfig.json');
  const { config } = ts.readConfigFile(file, ts.sys.readFile) as { config: object };
  return { ts, options: ts.parseJsonConfigFileContent(config, ts.sys, rootDir).options };
}

const isOfPackage = (fileName: string): boolean => /[\\/]node_modules[\\/]/.test(fileName);

/** Replaces what only an ES module may contain: `import.meta.url`, and a `require` of its own. */
const withoutModuleSyntax =
  (ts: typeof TypeScript): TypeScript.TransformerFactory<TypeScript.SourceFile> =>
  ({ factory }) =>
  (file) => {
    const isRequire = (node: TypeScript.Node): boolean =>
      ts.isVariableStatement(node) &&
      node.declarationList.declarations.some(({ name }) => ts.isIdentifier(name) && name.text === 'require');
    const visit = (node: TypeScript.Node): TypeScript.Node | undefined => {
      if (isRequire(node)) return undefined;
      if (!ts.isPropertyAccessExpression(node) || !ts.isMetaProperty(node.expression))
        return ts.visitEachChild(node, visit, undefined);
      const module = factory.createCallExpression(factory.createIdentifier('require'), undefined, [
        factory.createStringLiteral('node:url'),
      ]);
      const toUrl = factory.createPropertyAccessExpression(module, 'pathToFileURL');
      const url = factory.createCallExpression(toUrl, undefined, [factory.createIdentifier('__filename')]);
      return factory.createPropertyAccessExpression(url, 'href');
    };
    return ts.visitEachChild(file, visit, undefined);
  };

/** Compiles a file to CommonJS. Types are not checked; that is the task of `tsc`. */
function compile({ ts, options }: Compiler, source: string, fileName: string): string {
  const isPackage = isOfPackage(fileName);
  const compilerOptions = {
    ...(isPackage ? { target: ts.ScriptTarget.ES2023, useDefineForClassFields: true } : options),
    module: ts.ModuleKind.CommonJS,
    moduleResolution: undefined,
    allowJs: true,
    esModuleInterop: true,
    declaration: false,
    sourceMap: false,
    inlineSourceMap: true,
  };
  const transformers = isPackage ? { before: [withoutModuleSyntax(ts)] } : undefined;
  return ts.transpileModule(source, { fileName, compilerOptions, transformers }).outputText;
}

/** Compiles TypeScript, and the ES modules of Nest, for Jest. */
function createTransformer() {
  let compiler: Compiler | undefined;
  const load = ({ config }: JestOptions): Compiler => (compiler ??= compilerOf(config.rootDir));
  return {
    getCacheKey(source: string, fileName: string, jest: JestOptions): string {
      const { ts, options } = load(jest);
      const parts = [version, ts.version, JSON.stringify(options), jest.configString, fileName, source];
      return hash('sha256', parts.join('\0'), 'hex');
    },
    process: (source: string, fileName: string, jest: JestOptions) => ({ code: compile(load(jest), source, fileName) }),
  };
}

export default { createTransformer };
