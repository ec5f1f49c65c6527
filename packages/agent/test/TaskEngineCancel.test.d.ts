export {}
// # sourceMappingURL=TaskEngineCancel.test.d.ts.map
