import { textLinesOf } from "../../base/lines.ts";

/** A server-sent event. */
export interface ServerEvent {
  readonly type: string;
  readonly data: string;
}

/** Events as Rapport writes them: each field on one line, a blank line after each event. Ends with the connection. */
export async function* eventsIn(response: Response): AsyncGenerator<ServerEvent> {
  let fields = new Map<string, string>();
  try {
    for await (const line of textLinesOf("the stream", response.body ?? [])) {
      if (line !== "") {
        const [, name = "", value = ""] = /^(\w*): (.*)$/s.exec(line) ?? [];
        fields.set(name, value);
        continue;
      }
      const [type, data] = [fields.get("event"), fields.get("data")];
      if (type !== undefined && data !== undefined) yield { type, data };
      fields = new Map();
    }
  } catch (error) {
    // A connection that breaks off is an end like any other.
    if (!(error instanceof TypeError)) throw error;
  }
}
