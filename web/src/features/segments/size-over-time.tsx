import { Chart } from "../../components/chart.tsx";
import { usersText } from "../../components/figures.tsx";
import { Card } from "../../components/page.tsx";
import { useSegmentSizes } from "./api.ts";

const DAY_MS = 86_400_000;

/** How many days are listed. */
const DAYS = 30;

/** The recorded sizes of a segment: when it was saved, and on each day since. */
export function SizeOverTime({ id }: { readonly id: string }) {
  const { data } = useSegmentSizes();
  const sizes = data?.segments.find((each) => each.id === id)?.sizes ?? [];
  const last = sizes.at(-1);
  const sizeOf = new Map(sizes.map(({ time, size }) => [Date.parse(time) / DAY_MS, size]));
  const today = Math.floor(Date.now() / DAY_MS);
  const days = Array.from({ length: DAYS }, (_, index) => today - DAYS + 1 + index);
  return (
    <Card>
      <Chart
        label="Size over time"
        summary="users at the end of each of the last 30 days, and now"
        isDaily
        times={days.map((day) => (day * DAY_MS) / 1_000)}
        lines={
          last
            ? [
                {
                  name: "Users",
                  color: "info",
                  values: days.map((day) => sizeOf.get(day) ?? null),
                  whole: usersText(last.size),
                },
              ]
            : []
        }
      />
    </Card>
  );
}
