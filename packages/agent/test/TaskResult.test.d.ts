export {}
// # sourceMappingURL=TaskResult.test.d.ts.map
