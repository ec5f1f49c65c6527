/** The listeners of one exchange's close: told at most once, a late one at once. */
export class Closing {
  private listeners: Array<() => void> | undefined = undefined
  fired = false

  add(listener: () => void): void {
    if (this.fired) return listener()
    if (this.listeners === undefined) this.listeners = [listener]
    else this.listeners.push(listener)
  }

  fire(): void {
    if (this.fired) return
    this.fired = true
    const listeners = this.listeners
    this.listeners = undefined
    if (listeners !== undefined) { for (const listener of listeners) listener() }
  }
}
