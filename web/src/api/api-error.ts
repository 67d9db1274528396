import { sentenceOf } from "../../../client/src/refusal.ts";

/** A request that the server refused, or that did not reach it (status 0). */
export class ApiError extends Error {
  readonly status: number;
  readonly body: unknown;
  /** The id of the request in the server's log. */
  readonly requestId: string | null;

  constructor(status: number, message: string, body?: unknown, requestId: string | null = null) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.body = body;
    this.requestId = requestId;
  }
}

/** Reads the refusal out of a response, in any of the forms that the API has. */
export async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text();
  let body: unknown = text;
  try {
    body = JSON.parse(text);
  } catch {
    // A proxy between browser and server may respond with a page.
  }
  const requestId = response.headers.get("x-request-id");
  return new ApiError(response.status, sentenceOf(body, response.status), body, requestId);
}

/** The message for a person about a failure of any kind. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  if (error instanceof TypeError) return "The server could not be reached. Is it running?";
  return error instanceof Error ? error.message : String(error);
}
