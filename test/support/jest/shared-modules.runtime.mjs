import Module from 'node:module';
import { join, sep } from 'node:path';
import vm from 'node:vm';
import Runtime from 'jest-runtime';

const require = Module.createRequire(import.meta.url);
const TESTS = join(import.meta.dirname, '../..') + sep;
/** Of the suite that runs: it is told where the map of a module is that it loads first, and jest remembers that afterwards. */
let sourceMaps;
let isSharing = false;

/**
 * Loads what is not a test (src, clients, packages) once for a worker and not once for each suite, which took most of
 * a suite's time, and memory that was never given back. Suites and their support are loaded anew each time.
 * A suite that replaces modules (`jest.mock`) has all of them for itself, with `@jest-environment node`.
 */
export default class SharedModulesRuntime extends Runtime {
  constructor(config, environment, resolver, transformer, cacheFS, coverage, ...rest) {
    super(config, environment, resolver, transformer, cacheFS, coverage, ...rest);
    if (!environment.isOneRealm) return;
    // What Node.js loads is not instrumented: with --coverage each suite loads everything itself.
    this.sharesModules = !coverage.collectCoverage;
    sourceMaps = this.getSourceMaps();
    share(transformer);
    this.executor.compile = (source, filename) =>
      vm.compileFunction(source, this.executor.injectedModuleParameters, {
        filename,
        importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      });
  }

  requireModule(from, name, options, isRequireActual) {
    const isOurs = !this.sharesModules || !name || options?.isInternalModule || Module.isBuiltin(name);
    const path = isOurs ? undefined : Module.createRequire(from).resolve(name);
    if (!path || (path.startsWith(TESTS) && !path.endsWith('.mjs'))) {
      return super.requireModule(from, name, options, isRequireActual);
    }
    return require(path);
  }
}

/** Has Node.js compile TypeScript as jest does, in jest's cache. */
function share(transformer) {
  if (isSharing) return;
  isSharing = true;
  Module._extensions['.ts'] = (module, filename) => {
    const { code, sourceMapPath } = transformer.transform(filename, {
      collectCoverage: false,
      collectCoverageFrom: [],
      coverageProvider: 'v8',
      isInternalModule: false,
      supportsDynamicImport: true,
      supportsExportNamespaceFrom: false,
      supportsStaticESM: false,
      supportsTopLevelAwait: false,
    });
    if (sourceMapPath) sourceMaps.set(filename, sourceMapPath);
    module._compile(code, filename);
  };
}
