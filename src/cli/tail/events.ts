/** A server-sent event. */
export interface ServerEvent {
  readonly type: string;
  readonly data: string;
}

/** Events as Rapport writes them: each field on one line, a blank line after each event. Ends with the connection. */
export async function* eventsIn(response: Response): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of response.body ?? []) {
      const blocks = (text + decoder.decode(chunk as Uint8Array, { stream: true })).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const [type, data] = [fieldOf(block, "event"), fieldOf(block, "data")];
        if (type !== undefined && data !== undefined) yield { type, data };
      }
    }
  } catch (error) {
    // A connection that breaks off is an end like any other.
    if (!(error instanceof TypeError)) throw error;
  }
}

const fieldOf = (block: string, name: string): string | undefined =>
  block
    .split("\n")
    .find((line) => line.startsWith(`${name}: `))
    ?.slice(name.length + 2);
