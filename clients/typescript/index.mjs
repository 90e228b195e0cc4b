// One implementation for `import` and `require`: an error of the one is an instance of the other's class.
export { Lanyard, LanyardError } from './dist/index.js';
