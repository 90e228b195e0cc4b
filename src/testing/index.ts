/** What the tests of a project that extends Lanyard may import, as `lanyard/testing`. */
export {};
