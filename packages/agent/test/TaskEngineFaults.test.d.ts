export {}
// # sourceMappingURL=TaskEngineFaults.test.d.ts.map
