import Type, { type TSchema } from "typebox";

const Text = Type.String({ minLength: 1, maxLength: 255 });

/** A time in ISO 8601, checked when it is read. */
const Time = Type.String({ minLength: 1, maxLength: 64 });

const optional = <Members extends Record<string, TSchema>>(members: Members) =>
  Object.fromEntries(
    Object.entries(members).map(([name, schema]) => [name, Type.Optional(schema)]),
  );

const strict = { additionalProperties: false };

const List = <Entry extends TSchema>(entry: Entry) =>
  Type.Optional(Type.Array(entry, { maxItems: 1_000 }));

/** What is known of one user, in the publicly known names of exported profiles. */
export const ImportedObject = Type.Object(
  {
    apps: List(
      Type.Object(
        {
          app_id: Text,
          // As an export shows them: those of the workspace's app count.
          name: Type.Optional(Text),
          platform: Type.Optional(Text),
          version: Type.Optional(Text),
          sessions: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
          first_used: Time,
          last_used: Time,
        },
        strict,
      ),
    ),
    devices: List(
      Type.Object(
        {
          device_id: Text,
          ...optional({
            model: Text,
            os: Text,
            carrier: Text,
            idfv: Text,
            idfa: Text,
            google_ad_id: Text,
            roku_ad_id: Text,
            ad_tracking_enabled: Type.Boolean(),
          }),
        },
        strict,
      ),
    ),
    campaigns_received: List(
      Type.Object(
        {
          api_campaign_id: Text,
          last_received: Time,
          ...optional({
            name: Text,
            engaged: Type.Record(Text, Type.Boolean()),
            converted: Type.Boolean(),
            multiple_converted: Type.Boolean(),
            in_control: Type.Boolean(),
            variation_name: Text,
            variation_api_id: Text,
          }),
        },
        strict,
      ),
    ),
    canvases_received: List(
      Type.Object(
        {
          api_canvas_id: Text,
          ...optional({
            name: Text,
            last_received_message: Time,
            last_entered: Time,
            last_entered_control_at: Time,
            last_exited: Time,
            variation_name: Text,
            in_control: Type.Boolean(),
            steps_received: Type.Array(
              Type.Object(
                {
                  api_canvas_step_id: Text,
                  name: Type.Optional(Text),
                  last_received: Type.Optional(Time),
                },
                strict,
              ),
            ),
          }),
        },
        strict,
      ),
    ),
    cards_clicked: List(Type.Object({ name: Text, last_clicked: Type.Optional(Time) }, strict)),
    messages: List(
      Type.Object(
        {
          message_id: Text,
          channel: Text,
          sent_at: Time,
          ...optional({
            api_campaign_id: Text,
            api_canvas_id: Text,
            api_canvas_step_id: Text,
            opened_at: Time,
            clicked_at: Time,
          }),
        },
        strict,
      ),
    ),
    engagement_times: Type.Optional(Type.Record(Text, Time)),
    push_tokens: Type.Optional(Type.Unknown()),
  },
  strict,
);
