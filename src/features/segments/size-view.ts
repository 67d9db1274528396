import Type from "typebox";
import { IntegerOrNull, named, Text, TextOrNull } from "../../core/base/values/schemas.ts";
import type { Breakdown } from "./breakdown.ts";
import type { SegmentSize } from "./estimate.ts";
import type { shownTo } from "./shown-sizes.ts";

/* Sizes of segments and of their parts in responses. */

/** The description of `shownTo` for callers. */
export const FEW_USERS =
  "For a person without view_pii null if they are fewer than 20, otherwise rounded to tens.";

export const Size = {
  total: Type.Integer({ description: "All users of the workspace." }),
  matching: IntegerOrNull(`Users who meet the filter. ${FEW_USERS}`, 120),
  low: Type.Integer({ description: "With 95 % certainty at least this many users meet it." }),
  high: Type.Integer({ description: "With 95 % certainty at most this many users meet it." }),
  exact: Type.Boolean({ description: "Whether all users were counted." }),
};

const Estimate = (description: string) =>
  Type.Object({ matching: Size.matching, low: Size.low, high: Size.high }, { description });

export const BreakdownFields = {
  parts: Type.Optional(
    Type.Array(
      named("ConditionSize", {
        condition: Text("A part of the filter, in words.", "can receive email"),
        alone: Estimate("Users who meet this part."),
        together: Estimate("Users who meet this part and the earlier ones; in `any`, one of them."),
      }),
      { description: "With `parts`: the parts of the filter, at most 20." },
    ),
  ),
  reach: Type.Optional(
    Type.Array(
      named("ChannelReach", {
        channel: Text("email, push, or the channel of the subscription group.", "email"),
        subscription_group_id: TextOrNull("Null for email and push as such.", null),
        name: Type.String({ examples: ["Newsletter"] }),
        ...Estimate("").properties,
      }),
      { description: "With `reach`: users who meet the filter and can be reached on a channel." },
    ),
  ),
  counts_since: Type.Optional(
    Type.Object(
      {
        events: Type.Optional(Text("Of events.", "2026-01-01T12:00:00.000Z")),
        purchases: Type.Optional(Text("Of purchases.", "2026-01-01T12:00:00.000Z")),
      },
      {
        description:
          "Present if the filter reads events or purchases that retention deletes: from when on they are kept.",
      },
    ),
  ),
};

type Shown = ReturnType<typeof shownTo>;

export const viewOfBreakdown = ({ parts, reach }: Breakdown, shown: Shown) => ({
  ...(parts.length > 0 && {
    parts: parts.map(({ condition, alone, together }) => ({
      condition,
      alone: viewOfEstimate(alone, shown),
      together: viewOfEstimate(together, shown),
    })),
  }),
  ...(reach.length > 0 && {
    reach: reach.map(({ channel, groupId, name, size }) => ({
      channel,
      subscription_group_id: groupId,
      name,
      ...viewOfEstimate(size, shown),
    })),
  }),
});

function viewOfEstimate(size: SegmentSize, shown: Shown) {
  const { matching, low, high } = shown.size(size);
  return { matching, low, high };
}
