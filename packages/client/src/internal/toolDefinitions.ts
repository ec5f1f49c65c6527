import type { Definitions, Tool } from "../ToolClient.ts"

type Write<Api extends keyof Definitions> = (
  tool: { readonly name: string; readonly description: string; readonly schema: Record<string, unknown> }
) => Definitions[Api]

const writers: { readonly [Api in keyof Definitions]: Write<Api> } = {
  openai_chat: ({ description, name, schema }) => ({
    type: "function",
    function: { name, description, parameters: schema }
  }),
  openai_responses: ({ description, name, schema }) => ({ type: "function", name, description, parameters: schema }),
  anthropic: ({ description, name, schema }) => ({ name, description, input_schema: schema })
}

/** @internal */
export const write = <Api extends keyof Definitions>(tools: ReadonlyArray<Tool>, api: Api): Array<Definitions[Api]> => {
  if (!Object.hasOwn(writers, api)) throw new TypeError(`no model API is called ${JSON.stringify(api)}`)
  const writer: Write<Api> = writers[api]
  return tools.map(({ description, inputSchema, name }) =>
    // a copy, since callers add to what they send
    writer({ name, description: description ?? "", schema: structuredClone(inputSchema) })
  )
}
