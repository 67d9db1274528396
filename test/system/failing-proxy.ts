import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { after } from "node:test";

/** Answers a request itself and returns true, or lets the server's response through. */
type Intervene = (request: IncomingMessage, response: ServerResponse, count: number) => boolean;

/** A proxy before a server that may answer itself; it notes the requests. */
export async function failingProxy(target: string, intervene: Intervene) {
  const requests: { url: string; key: string | undefined; body: any }[] = [];
  const listener = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const key = request.headers["idempotency-key"] as string | undefined;
    requests.push({ url: request.url ?? "", key, body: text && JSON.parse(text) });
    const before = requests.length;
    const answer = await fetch(target + request.url, {
      method: request.method ?? "GET",
      headers: Object.fromEntries(
        ["authorization", "content-type", "idempotency-key"].flatMap((name) =>
          request.headers[name] ? [[name, String(request.headers[name])]] : [],
        ),
      ),
      ...(text && { body: text }),
    });
    if (intervene(request, response, before)) return;
    const body = await answer.text();
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(body);
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  after(() => listener.close());
  const { port } = listener.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, requests };
}
