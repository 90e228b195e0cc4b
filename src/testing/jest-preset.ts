/** Nest's fields keep the semantics that Node.js gives them; those of TypeScript have the options of extension.tsconfig.json. */
const NEST = { target: 'es2023', parser: { syntax: 'ecmascript' } };
const TYPESCRIPT = {
  target: 'es2023',
  parser: { syntax: 'typescript', decorators: true },
  keepClassNames: true,
  transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
};

/** Compiles to CommonJS, which Jest loads. Types are not checked; that is the task of `tsc`. */
const compileWith = (jsc: object) => ['@swc/jest', { swcrc: false, jsc, module: { type: 'commonjs' } }];

/**
 * Jest's configuration for TypeScript suites that start a Lanyard: `preset: 'lanyard/testing'`. Nest consists of ES modules,
 * which Jest loads by itself only on Node.js 24.9 and later.
 */
export = {
  testEnvironment: 'node',
  testMatch: ['**/?(*.)@(spec|test|e2e-spec).?([cm])[jt]s'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/dist/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  // The first start of a project creates a database, which takes long.
  testTimeout: 60_000,
  transform: { '\\.[cm]?ts$': compileWith(TYPESCRIPT), '/node_modules/@nestjs/.+\\.js$': compileWith(NEST) },
  transformIgnorePatterns: ['/node_modules/(?!@nestjs/)'],
};
