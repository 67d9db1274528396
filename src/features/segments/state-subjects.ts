import { EMAIL_STATES } from "../../core/base/values/email-states.ts";
import { type FilterPath, refuse } from "./filter-path.ts";
import { itsRows, type Leaf, type Subject } from "./leaf.ts";
import { decided } from "./sql.ts";

/* Conditions on a user's consent, and on the channels that reach a user. */

type Members = Readonly<Record<string, unknown>>;

function refuseOthers(rest: Members, path: FilterPath): void {
  const [name] = Object.keys(rest);
  if (name !== undefined) throw refuse([...path, name], "does not fit this subject");
}

function oneOfThese<Name extends string>(
  value: unknown,
  names: readonly Name[],
  path: FilterPath,
): Name {
  const name = names.find((each) => each === value);
  if (name !== undefined) return name;
  throw refuse(path, `must be one of ${names.join(", ")}`);
}

const GROUP_STATES = ["subscribed", "unsubscribed", "unknown"] as const;

export const subscriptionGroup: Subject = {
  read(id, { is, ...rest }, path, scope) {
    refuseOthers(rest, path);
    const group = typeof id === "string" ? scope.groups.get(id) : undefined;
    if (!group) {
      throw refuse([...path, "subscription_group"], "must be the id of a group of this workspace");
    }
    const groupId = String(id);
    const state = oneOfThese(is, GROUP_STATES, [...path, "is"]);
    return {
      looksUp: true,
      words: `is ${state} ${state === "unknown" ? "in" : "to"} ${group.name}`,
      sql(values) {
        const row = `select 1 from group_states s where ${itsRows("s")} and s.group_id = ${values.bind(groupId, "text")}`;
        return decided(
          state === "unknown"
            ? `(not exists (${row}))`
            : `exists (${row} and s.state = ${values.bind(state, "text")})`,
          1,
        );
      },
    };
  },
};

export const emailSubscription: Subject = {
  read(value, rest, path) {
    refuseOthers(rest, path);
    const state = oneOfThese(value, EMAIL_STATES, [...path, "email_subscription"]);
    return {
      words: `email subscription is ${state}`,
      sql(values) {
        const waiting =
          "coalesce(p.standard_attributes #>> '{email_subscribe,state}', 'subscribed')";
        const holds = `(p.email is null and ${waiting} = ${values.bind(state, "text")})`;
        return { must: holds, may: `(${holds} or p.email is not null)` };
      },
      open: {
        json: () => "null::jsonb",
        holds: (_value, address) => (address.state ?? "subscribed") === state,
      },
    };
  },
};

export const pushSubscription: Subject = {
  read(value, rest, path) {
    refuseOthers(rest, path);
    const state = oneOfThese(value, EMAIL_STATES, [...path, "push_subscription"]);
    return {
      words: `push subscription is ${state}`,
      sql: (values) =>
        decided(
          `(coalesce(p.standard_attributes ->> 'push_subscribe', 'subscribed') = ${values.bind(state, "text")})`,
        ),
    };
  },
};

export const emailAvailable: Subject = {
  read(value, rest, path) {
    refuseOthers(rest, path);
    if (typeof value !== "boolean") {
      throw refuse([...path, "email_available"], "must be true or false");
    }
    return {
      words: value ? "can receive email" : "cannot receive email",
      sql() {
        const mayBe =
          "(p.email is not null and not p.standard_attributes ? 'marked_email_as_spam_at')";
        return value ? { must: "false", may: mayBe } : { must: `(not ${mayBe})`, may: "true" };
      },
      open: {
        json: () => "null::jsonb",
        holds: (_value, { state, hasBounced }) =>
          (state !== "unsubscribed" && !hasBounced) === value,
      },
    };
  },
};

export const device: Subject = {
  read(value, rest, path, scope) {
    refuseOthers(rest, path);
    if (typeof value !== "string" || value === "" || value.length > 255) {
      throw refuse([...path, "device"], "must be a platform, such as ios, android or web");
    }
    const platform = value.toLowerCase();
    const apps = [...scope.apps]
      .filter(([, app]) => app.platform.toLowerCase() === platform)
      .map(([id]) => id);
    return deviceLeaf(platform, apps);
  },
};

/** An operating system is often followed by its version. */
const deviceLeaf = (platform: string, apps: readonly string[]): Leaf => ({
  looksUp: true,
  words: `uses a device with ${platform}`,
  sql(values) {
    const wanted = values.bind(platform, "text");
    const os = "lower(coalesce(s.details ->> 'os', ''))";
    return decided(
      `(exists (select 1 from app_usages s where ${itsRows("s")}
          and s.app_id = any(${values.bind(apps, "text[]")}))
        or exists (select 1 from devices s where ${itsRows("s")}
          and (${os} = ${wanted} or starts_with(${os}, ${wanted} || ' '))))`,
      2,
    );
  },
});
