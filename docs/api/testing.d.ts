// The public API of the package, by `npm run api`. CHANGELOG.md announces each change of it.

export {};
