export {}
// # sourceMappingURL=TaskEngineStreams.test.d.ts.map
