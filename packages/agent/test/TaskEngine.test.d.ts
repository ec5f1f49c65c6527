export {}
// # sourceMappingURL=TaskEngine.test.d.ts.map
