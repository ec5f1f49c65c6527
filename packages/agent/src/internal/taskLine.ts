/** What stands in a line, until it is `gone`. */
export interface InLine {
  gone: boolean
}

/**
 * First in, first out, and out of the middle too, all at constant cost. (A map or a set is no such line: whoever asks for its first entry
 * walks over those that were deleted before it.)
 */
export class Line<A extends InLine> {
  size = 0
  private items: Array<A> = []
  private head = 0

  push(item: A): void {
    this.items.push(item)
    this.size++
  }

  first(): A | undefined {
    let item = this.items[this.head]
    while (item?.gone === true) item = this.items[++this.head]
    return item
  }

  remove(item: A): boolean {
    if (item.gone) return false
    item.gone = true
    this.size--
    if (this.items.length > 2 * this.size + 16) {
      this.items = this.items.filter((item) => !item.gone)
      this.head = 0
    }
    return true
  }
}
