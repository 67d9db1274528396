/** A call that the server refused, or that found no server. */
export class RapportError extends Error {
  /** The HTTP status; 0 without a response. */
  readonly status: number;
  /** The body of the response, as far as it could be read. */
  readonly body: unknown;
  /** The id of the request in the server's logs. */
  readonly requestId: string | undefined;

  constructor(
    message: string,
    status: number,
    body?: unknown,
    requestId?: string,
    cause?: unknown,
  ) {
    super(message, { cause });
    this.name = "RapportError";
    this.status = status;
    this.body = body;
    this.requestId = requestId;
  }
}

/** The sentence of a refusal, in any of the forms that the API has. */
export function sentenceOf(body: unknown, status: number): string {
  const { message, detail, errors } = (body ?? {}) as {
    message?: unknown;
    detail?: unknown;
    errors?: readonly { message?: unknown }[];
  };
  const sentence = message ?? detail ?? errors?.[0]?.message;
  return typeof sentence === "string" ? sentence : `The server responded with ${status}.`;
}
