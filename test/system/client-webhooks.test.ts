/*
 * `verifyWebhook` of the package rapport-client: its verdicts, compared with the library of
 * Standard Webhooks (a development dependency).
 */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { describe, mock, test } from "node:test";
import { Webhook } from "standardwebhooks";
import {
  verifyWebhook,
  WebhookError,
  type WebhookHeaders,
  type WebhookRequest,
} from "../../client/src/client.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OTHER = "whsec_c2VjcmV0LW9mLXNvbWVib2R5LWVsc2UtMDAwMDA=";
const ID = "msg_2mTnCyL0XqzE";

const CHANGE = {
  id: "019bfd04-0c00-7d3e-8a55-0c9b1f3c2d11-5-2s",
  type: "event.logged",
  at: "2026-01-31T12:00:00.000Z",
  user: { platform_id: "019a8b54-7c1e-7a5b-9f0e-3d2c1b0a9f8e", external_id: "ada" },
  name: "opened",
  time: "2026-01-31T12:00:00.000Z",
  properties: { title: "Übersicht 🎉\u2028" },
  app_id: null,
};
const PAYLOAD = { changes: [CHANGE] };
const BODY = JSON.stringify(PAYLOAD);

/** A `webhook-timestamp` this many seconds from now. */
const inSeconds = (seconds: number): string => `${Math.floor(Date.now() / 1_000) + seconds}`;

const NOW = inSeconds(0);

/** The library signs a time in whole seconds. */
const sign = (body: string, { secret = SECRET, id = ID, timestamp = NOW } = {}): string =>
  new Webhook(secret).sign(id, new Date(Number(timestamp) * 1_000), body);

type Headers = Readonly<Record<string, string>>;

interface Signed {
  readonly body?: string;
  readonly timestamp?: string;
  readonly signature?: string;
}

const headersOf = ({ body = BODY, timestamp = NOW, signature }: Signed = {}): Headers => ({
  "webhook-id": ID,
  "webhook-timestamp": timestamp,
  "webhook-signature": signature ?? sign(body, { timestamp }),
});

const signedAt = (timestamp: string) => ({ headers: headersOf({ timestamp }), body: BODY });
const signedAs = (signature: string) => ({ headers: headersOf({ signature }), body: BODY });
const signedBody = (body: string) => ({ headers: headersOf({ body }), body });

const without = (name: string) => ({
  headers: Object.fromEntries(Object.entries(headersOf()).filter(([each]) => each !== name)),
  body: BODY,
});

const withHeader = (name: string, value: string) => ({
  headers: { ...headersOf(), [name]: value },
  body: BODY,
});

const RIGHT = sign(BODY);
const WRONG = sign(BODY, { secret: OTHER });
/** Its last character before the padding has bits that no byte holds. */
const MISSPELT = RIGHT.replace(/.=$/, (end) => `${end[0] === "B" ? "D" : "B"}=`);

/** The common inputs of both: a text as body, and headers in an object. */
interface Case {
  readonly headers: Headers;
  readonly body: string;
}

const ACCEPTED: Readonly<Record<string, Case>> = {
  "signed just now": { headers: headersOf(), body: BODY },
  "signed four minutes ago": signedAt(inSeconds(-240)),
  "signed four minutes ahead": signedAt(inSeconds(240)),
  "without changes": signedBody('{"changes":[]}'),
  "with further members": signedBody('{"changes":[],"more":true}'),
  "with spaces and line ends in its body": signedBody(`${JSON.stringify(PAYLOAD, null, 2)}\r\n`),
  "whose header names have capitals": {
    headers: Object.fromEntries(
      Object.entries(headersOf()).map(([name, value]) => [name.toUpperCase(), value]),
    ),
    body: BODY,
  },
  "that is signed with the secret before and this one": signedAs(`${WRONG} ${RIGHT}`),
  "that is signed with this secret and the next one": signedAs(`${RIGHT} ${WRONG}`),
  "that also has a signature of another version": signedAs(`v1a,${WRONG.slice(3)} ${RIGHT}`),
  "that also has signatures of no known form": signedAs(`v1,x v2 ${RIGHT}`),
};

const REFUSED: Readonly<Record<string, readonly [code: string, given: Case]>> = {
  "without an id": ["MISSING_HEADER", without("webhook-id")],
  "without a timestamp": ["MISSING_HEADER", without("webhook-timestamp")],
  "without a signature": ["MISSING_HEADER", without("webhook-signature")],
  "with an empty id": ["MISSING_HEADER", withHeader("webhook-id", "")],
  "whose timestamp is a word": ["INVALID_TIMESTAMP", withHeader("webhook-timestamp", "yesterday")],
  "whose timestamp is not a number": ["INVALID_TIMESTAMP", withHeader("webhook-timestamp", "NaN")],
  "whose timestamp is negative": ["INVALID_TIMESTAMP", withHeader("webhook-timestamp", "-1")],
  "whose timestamp is in milliseconds": [
    "INVALID_TIMESTAMP",
    withHeader("webhook-timestamp", `${NOW}000`),
  ],
  "whose timestamp was changed": [
    "WRONG_SIGNATURE",
    withHeader("webhook-timestamp", inSeconds(-60)),
  ],
  "signed more than five minutes ago": ["TIMESTAMP_TOO_OLD", signedAt(inSeconds(-301))],
  "signed a year ago": ["TIMESTAMP_TOO_OLD", signedAt(inSeconds(-31_536_000))],
  "signed six minutes ahead": ["TIMESTAMP_TOO_NEW", signedAt(inSeconds(360))],
  "whose id was changed": ["WRONG_SIGNATURE", withHeader("webhook-id", `${ID}0`)],
  "whose body was changed": [
    "WRONG_SIGNATURE",
    { headers: headersOf(), body: BODY.replace("ada", "eve") },
  ],
  "whose body was parsed and written again": [
    "WRONG_SIGNATURE",
    { headers: headersOf({ body: JSON.stringify(PAYLOAD, null, 2) }), body: BODY },
  ],
  "with an empty body": ["WRONG_SIGNATURE", { headers: headersOf(), body: "" }],
  "signed with another secret": ["WRONG_SIGNATURE", signedAs(WRONG)],
  "signed with two other secrets": ["WRONG_SIGNATURE", signedAs(`${WRONG} ${WRONG}`)],
  "with a signature that was cut": ["INVALID_SIGNATURE", signedAs(RIGHT.slice(0, -5))],
  "with a signature without padding": ["INVALID_SIGNATURE", signedAs(RIGHT.slice(0, -1))],
  "with a signature in another spelling": ["INVALID_SIGNATURE", signedAs(MISSPELT)],
  "with a signature without a version": ["INVALID_SIGNATURE", signedAs(RIGHT.slice(3))],
  "with a signature of version 2": ["INVALID_SIGNATURE", signedAs(RIGHT.replace("v1", "v2"))],
  "with commas between its signatures": ["INVALID_SIGNATURE", signedAs(`${WRONG},${RIGHT}`)],
};

/** The library ignores the contents of the body, and reads numbers that end in other text. */
const REFUSED_HERE_ALONE: typeof REFUSED = {
  "whose body is no JSON": ["INVALID_BODY", signedBody('{"changes":')],
  "whose body is null": ["INVALID_BODY", signedBody("null")],
  "whose body is a list": ["INVALID_BODY", signedBody("[]")],
  "whose changes are no list": ["INVALID_BODY", signedBody('{"changes":{}}')],
  "with eleven signatures": [
    "INVALID_SIGNATURE",
    signedAs(`${Array(10).fill(WRONG).join(" ")} ${RIGHT}`),
  ],
  "whose timestamp ends in text": [
    "INVALID_TIMESTAMP",
    { ...signedAt(NOW), headers: { ...headersOf(), "webhook-timestamp": `${NOW}s` } },
  ],
};

const acceptedByTheLibrary = ({ headers, body }: Case): boolean => {
  try {
    new Webhook(SECRET).verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
};

async function refusal(request: WebhookRequest): Promise<string> {
  try {
    await verifyWebhook(request);
    return "accepted";
  } catch (error) {
    assert.ok(error instanceof WebhookError, `${error}`);
    assert.equal(error.name, "WebhookError");
    assert.match(error.message, /^[A-Z'].*\.$/);
    return error.code;
  }
}

describe("verifyWebhook", () => {
  for (const [what, given] of Object.entries(ACCEPTED)) {
    test(`verifyWebhook accepts a request ${what}, as does the library`, async () => {
      const payload = await verifyWebhook({ secret: SECRET, ...given });
      assert.deepEqual(payload, JSON.parse(given.body));
      assert.ok(acceptedByTheLibrary(given));
    });
  }

  for (const [what, [code, given]] of Object.entries(REFUSED)) {
    test(`verifyWebhook refuses a request ${what} as ${code}, and the library refuses it`, async () => {
      assert.equal(await refusal({ secret: SECRET, ...given }), code);
      assert.ok(!acceptedByTheLibrary(given));
    });
  }

  for (const [what, [code, given]] of Object.entries(REFUSED_HERE_ALONE)) {
    test(`verifyWebhook refuses a request ${what} as ${code}, though the library accepts it`, async () => {
      assert.equal(await refusal({ secret: SECRET, ...given }), code);
      assert.ok(acceptedByTheLibrary(given));
    });
  }

  test("verifyWebhook accepts the example of the specification, and refuses altered ones", async () => {
    const headers = {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    };
    // The time is read before the first pause: other tests have theirs.
    const then = mock.method(Date, "now", () => 1_614_265_330_000);
    const codes = ['{"test": 2432232314}', '{"test": 2432232315}'].map((body) =>
      refusal({ secret: SECRET, headers, body }),
    );
    then.mock.restore();
    assert.deepEqual(await Promise.all(codes), ["INVALID_BODY", "WRONG_SIGNATURE"]);
  });

  test("verifyWebhook refuses a request if any one character of its id, time, signature or body is another", async () => {
    const headers = headersOf();
    const parts: readonly [string, string, (text: string) => Case][] = [
      ["body", BODY, (body) => ({ headers, body })],
      ...Object.entries(headers).map(([name, value]): [string, string, (text: string) => Case] => [
        name,
        value,
        (text) => ({ headers: { ...headers, [name]: text }, body: BODY }),
      ]),
    ];
    for (const [name, text, given] of parts) {
      for (let place = 0; place < text.length; place++) {
        const other = text[place] === "1" ? "2" : "1";
        const changed = text.slice(0, place) + other + text.slice(place + 1);
        const code = await refusal({ secret: SECRET, ...given(changed) });
        assert.notEqual(code, "accepted", `${name}: ${changed}`);
      }
    }
  });

  test("verifyWebhook takes the body as text or bytes of any kind", async () => {
    const bytes = new TextEncoder().encode(BODY);
    const within = new Uint8Array(bytes.length + 7);
    within.set(bytes, 3);
    const bodies = {
      text: BODY,
      bytes,
      "a part of a buffer": within.subarray(3, 3 + bytes.length),
      "a buffer of Node": Buffer.from(BODY),
      "an ArrayBuffer": await new Response(BODY).arrayBuffer(),
    };
    for (const [what, body] of Object.entries(bodies)) {
      const payload = await verifyWebhook({ secret: SECRET, headers: headersOf(), body });
      assert.deepEqual(payload, PAYLOAD, what);
    }
    const noText = Buffer.concat([
      Buffer.from('{"changes":["'),
      Buffer.from([0xff, 0x22, 0x5d, 0x7d]),
    ]);
    const hmac = createHmac("sha256", Buffer.from(SECRET.slice(6), "base64"));
    const signature = `v1,${hmac.update(`${ID}.${NOW}.`).update(noText).digest("base64")}`;
    const headers = headersOf({ signature });
    assert.equal(await refusal({ secret: SECRET, headers, body: noText }), "INVALID_BODY");
  });

  test("verifyWebhook takes headers of fetch, of Node, and with lists", async () => {
    const headers = headersOf();
    const kinds: Readonly<Record<string, WebhookHeaders>> = {
      fetch: new Headers(headers),
      Node: { ...headers, host: "example.com", "set-cookie": ["a=b"], accept: undefined },
      lists: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
    };
    for (const [what, given] of Object.entries(kinds)) {
      const payload = await verifyWebhook({ secret: SECRET, headers: given, body: BODY });
      assert.deepEqual(payload, PAYLOAD, what);
    }
    const empty = { secret: SECRET, headers: new Headers(), body: BODY };
    assert.equal(await refusal(empty), "MISSING_HEADER");
  });

  test("verifyWebhook accepts a request that is signed with any of its secrets, and refuses one with none", async () => {
    const given = signedAs(RIGHT);
    for (const secrets of [[SECRET], [SECRET, OTHER], [OTHER, SECRET]]) {
      assert.deepEqual(await verifyWebhook({ secrets, ...given }), PAYLOAD);
    }
    assert.equal(await refusal({ secrets: [OTHER], ...given }), "WRONG_SIGNATURE");
  });

  test("verifyWebhook throws a TypeError for a fault of the receiver: its secrets, or a body that was parsed", async () => {
    const given = signedAs(RIGHT);
    for (const secret of ["", "whsec_", "whsec_***", SECRET.slice(6), undefined, "whsec_\n"]) {
      await assert.rejects(verifyWebhook({ secret, ...given } as WebhookRequest), {
        name: "TypeError",
        message: "The secret of a webhook is 'whsec_' and base64.",
      });
    }
    const none = { secrets: [], ...given };
    await assert.rejects(verifyWebhook(none), { name: "TypeError", message: /must not be empty/ });
    const parsed = { secret: SECRET, ...given, body: PAYLOAD } as unknown as WebhookRequest;
    await assert.rejects(verifyWebhook(parsed), { name: "TypeError", message: /not parsed/ });
  });
});
