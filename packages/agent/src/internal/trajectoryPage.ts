import type * as A2a from "@effect-agentenv/protocol/A2a"
import type { Page } from "../Trajectories.ts"
import { Written } from "./jsonText.ts"

/** The events of the pages that were made here, as JSON text: most pages are sent, and their events are never looked at. */
const texts = new WeakMap<Page, string>()

/** A page of events that are JSON texts; they are parsed for whoever looks. */
export const make = (
  fields: Omit<Page, "events" | "next" | "has_more">,
  events: ReadonlyArray<string>,
  position: Pick<Page, "next" | "has_more">
): Page => {
  const text = `[${events.join(",")}]`
  let parsed: ReadonlyArray<A2a.JsonObject> | undefined
  const page: Page = {
    ...fields,
    get events() {
      return parsed ??= JSON.parse(text) as ReadonlyArray<A2a.JsonObject>
    },
    ...position
  }
  texts.set(page, text)
  return page
}

/** What answers with a page: its text where that is there, else the page, whoever made it. */
export const answerOf = (page: Page): Page | Written => {
  const events = texts.get(page)
  if (events === undefined) return page
  const context = JSON.stringify(page.context_id)
  const task = JSON.stringify(page.task_id)
  const format = JSON.stringify(page.format)
  return new Written(
    `{"context_id":${context},"task_id":${task},"state":"${page.state}","format":${format},"events":${events},` +
      `"next":${page.next},"has_more":${page.has_more}}`
  )
}
