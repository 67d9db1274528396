import { MonitorSmartphone } from "lucide-react";
import type { Profile } from "../../api/users.ts";
import { Json } from "../../components/json.tsx";
import { Card } from "../../components/page.tsx";
import { Empty } from "../../components/states.tsx";

export function Devices({ profile }: { readonly profile: Profile }) {
  const parts = [
    ["Devices", profile.devices],
    ["Apps", profile.apps],
    ["Push tokens", profile.push_tokens],
  ] as const;
  const known = parts.filter(([, list]) => (list ?? []).length > 0);
  if (known.length === 0) {
    return (
      <Empty icon={MonitorSmartphone} title="No devices or apps">
        Apps come with app_id on events, purchases and sessions; devices and push tokens with
        push_tokens or an import.
      </Empty>
    );
  }
  return (
    <div className="stack">
      {known.map(([title, list]) => (
        <Card key={title} title={title}>
          <Json value={list} label={title} />
        </Card>
      ))}
    </div>
  );
}
