import Type, { type TSchema } from "typebox";
import { ClosedObject } from "../../core/base/values/schemas.ts";

const Text = Type.String({ minLength: 1, maxLength: 255 });

const text = (description: string, example?: string) =>
  Type.String({
    minLength: 1,
    maxLength: 255,
    description,
    ...(example && { examples: [example] }),
  });

/** A time in ISO 8601, checked when it is read. */
const time = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 64,
    description: `${description}, ISO 8601.`,
    examples: ["2026-01-01T12:00:00.000Z"],
  });

const optional = <Members extends Record<string, TSchema>>(members: Members) =>
  Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name, Type.Optional(schema)]),
  );

const List = <Entry extends TSchema>(entry: Entry) =>
  Type.Optional(Type.Array(entry, { maxItems: 1_000 }));

/** The data of one user, in the public names of exported profiles. */
export const ImportedObject = ClosedObject({
  apps: List(
    ClosedObject({
      app_id: Text,
      // As in an export: apps of the workspace.
      name: Type.Optional(Text),
      platform: Type.Optional(Text),
      version: Type.Optional(text("The version of the app.", "2.4.0")),
      sessions: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
      first_used: time("When the user first used the app"),
      last_used: time("When the user last used the app"),
    }),
  ),
  devices: List(
    ClosedObject({
      device_id: text("The device.", "device-0001"),
      ...optional({
        model: text("The model of the device.", "Pixel 9"),
        os: text("The operating system.", "Android 16"),
        carrier: text("The mobile carrier.", "Example Mobile"),
        idfv: text("Apple's id for vendors."),
        idfa: text("Apple's id for advertisers."),
        google_ad_id: text("Google's advertising id."),
        roku_ad_id: text("Roku's advertising id."),
        ad_tracking_enabled: Type.Boolean(),
      }),
    }),
  ),
  campaigns_received: List(
    ClosedObject({
      api_campaign_id: Text,
      last_received: time("When the user last received it"),
      ...optional({
        name: Text,
        engaged: Type.Record(Text, Type.Boolean()),
        converted: Type.Boolean({ description: "Whether the user converted." }),
        multiple_converted: Type.Boolean(),
        in_control: Type.Boolean(),
        variation_name: Text,
        variation_api_id: text("The variation.", "3f1d9c52-7b64-4f0e-9a7d-2c8e5b6a1d03"),
      }),
    }),
  ),
  canvases_received: List(
    ClosedObject({
      api_canvas_id: Text,
      ...optional({
        name: Text,
        last_received_message: time("When the user last received a message of it"),
        last_entered: time("When the user last entered it"),
        last_entered_control_at: time("When the user last entered its control group"),
        last_exited: time("When the user last left it"),
        variation_name: Text,
        in_control: Type.Boolean(),
        steps_received: Type.Array(
          ClosedObject({
            api_canvas_step_id: Text,
            name: Type.Optional(Text),
            last_received: Type.Optional(time("When the user last received it")),
          }),
        ),
      }),
    }),
  ),
  cards_clicked: List(
    ClosedObject({
      name: Text,
      last_clicked: Type.Optional(time("When the user last clicked it")),
    }),
  ),
  messages: List(
    ClosedObject({
      message_id: text("The message.", "m-1"),
      channel: Text,
      sent_at: time("When it was sent"),
      ...optional({
        api_campaign_id: Text,
        api_canvas_id: Text,
        api_canvas_step_id: Text,
        opened_at: time("When it was opened"),
        clicked_at: time("When it was clicked"),
      }),
    }),
  ),
  engagement_times: Type.Optional(
    Type.Record(Text, Type.String({ minLength: 1, maxLength: 64 }), {
      description: "The Last_X_at fields, ISO 8601.",
    }),
  ),
  push_tokens: Type.Optional(Type.Unknown({ description: "Push tokens of the user." })),
});
