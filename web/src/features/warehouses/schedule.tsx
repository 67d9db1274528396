import { Select, TextInput } from "@mantine/core";
import { Cron } from "croner";
import { useState } from "react";
import { ZONES } from "../../components/time.tsx";

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** Ways to repeat, and the last three fields of their cron expressions. */
const WAYS = {
  hand: { label: "Only by hand", days: "" },
  hour: { label: "Every hour", days: "* * *" },
  day: { label: "Every day", days: "* * *" },
  workday: { label: "From Monday to Friday", days: "* * 1-5" },
  week: { label: "Every week", days: "* *" },
  month: { label: "On the first of each month", days: "1 * *" },
  cron: { label: "As a cron expression", days: "" },
} as const;

type Way = keyof typeof WAYS;

interface Choice {
  readonly way: Way;
  /** Such as `09:00`. */
  readonly time: string;
  /** 0 is Sunday. */
  readonly weekday: string;
}

/** The choice that an expression means. */
function choiceOf(cron: string): Choice {
  const [minute = "", hour = "", ...rest] = cron.trim().split(/\s+/);
  const days = rest.join(" ");
  const none = { time: "09:00", weekday: "1" };
  if (cron.trim() === "") return { ...none, way: "hand" };
  if (cron.trim() === "0 * * * *") return { ...none, way: "hour" };
  const time = `${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`;
  if (!/^([01]\d|2[0-3]):[0-5]\d$/.test(time)) return { ...none, way: "cron" };
  const [, weekday = "1"] = /^\* \* ([0-6])$/.exec(days) ?? [];
  if (days === `* * ${weekday}`) return { way: "week", time, weekday };
  const way = (["day", "workday", "month"] as const).find((each) => WAYS[each].days === days);
  return { way: way ?? "cron", time, weekday };
}

function cronOf({ way, time, weekday }: Choice): string {
  if (way === "hand") return "";
  if (way === "hour") return "0 * * * *";
  const [hour, minute] = time.split(":").map(Number);
  return `${minute} ${hour} ${WAYS[way].days}${way === "week" ? ` ${weekday}` : ""}`;
}

/** `Every day at 09:00, Europe/Berlin`. */
export function tellSchedule(cron: string | null, zone: string): string {
  const { way, time, weekday } = choiceOf(cron ?? "");
  if (way === "hand" || way === "hour") return WAYS[way].label;
  if (way === "cron") return `${cron}, ${zone}`;
  return `${way === "week" ? `Every ${WEEKDAYS[Number(weekday)]}` : WAYS[way].label} at ${time}, ${zone}`;
}

/** The next three runs in the reader's own time; undefined for what is no expression. */
function nextRuns(cron: string, timezone: string): string | undefined {
  const shown = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });
  try {
    // As the server reads it: core/admin/jobs/schedule.ts
    const rules = { timezone, mode: "5-part", fixedTimeRule: "no-wildcard" } as const;
    const runs = new Cron(cron, rules).nextRuns(3);
    return runs.map((run) => shown.format(run)).join("; ");
  } catch {
    return undefined;
  }
}

interface ScheduleFieldsProps {
  readonly schedule: string;
  readonly zone: string;
  readonly error: React.ReactNode;
  change(values: { readonly schedule: string; readonly schedule_time_zone: string }): void;
}

/** A schedule in words; what words do not say is written as cron. */
export function ScheduleFields({ schedule, zone, error, change }: ScheduleFieldsProps) {
  const [choice, setChoice] = useState(() => choiceOf(schedule));
  const { way, time, weekday } = choice;
  const set = (next: Partial<Choice>) => {
    const chosen = { ...choice, ...next };
    setChoice(chosen);
    const cron = chosen.way === "cron" ? schedule || "0 * * * *" : cronOf(chosen);
    change({ schedule: cron, schedule_time_zone: zone });
  };
  const runs = schedule && nextRuns(schedule, zone);
  return (
    <>
      <div className="fields">
        <Select
          label="Runs"
          data={Object.entries(WAYS).map(([value, { label }]) => ({ value, label }))}
          value={way}
          onChange={(value) => set({ way: value as Way })}
        />
        {way === "week" && (
          <Select
            label="On"
            data={WEEKDAYS.map((label, value) => ({ value: String(value), label }))}
            value={weekday}
            onChange={(value) => set({ weekday: value ?? "1" })}
          />
        )}
        {way === "cron" && (
          <TextInput
            label="Cron"
            description="Minute, hour, day, month, weekday."
            value={schedule}
            error={error}
            onChange={({ target: { value } }) =>
              change({ schedule: value, schedule_time_zone: zone })
            }
          />
        )}
        {!["hand", "hour", "cron"].includes(way) && (
          <TextInput
            label="At"
            type="time"
            value={time}
            onChange={({ target: { value } }) => value && set({ time: value })}
          />
        )}
        {way !== "hand" && (
          <Select
            label="Time zone"
            searchable
            data={[...new Set([...ZONES, zone])]}
            value={zone}
            onChange={(value) => change({ schedule, schedule_time_zone: value ?? zone })}
          />
        )}
      </div>
      {runs && <p className="dim">The next runs, in your time: {runs}</p>}
    </>
  );
}
