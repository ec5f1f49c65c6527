export {}
// # sourceMappingURL=TaskStore.test.d.ts.map
