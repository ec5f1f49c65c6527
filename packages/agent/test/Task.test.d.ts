export {}
// # sourceMappingURL=Task.test.d.ts.map
