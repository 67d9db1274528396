import { Button } from "@mantine/core";
import { Download } from "lucide-react";
import { useManifest } from "../../api/administration.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { RAPPORT } from "../../components/command.ts";
import { download } from "../../components/download.ts";
import { Json } from "../../components/json.tsx";
import { Card } from "../../components/page.tsx";
import { Loaded, Notice } from "../../components/states.tsx";

/** The declarations of this workspace, as a file that creates it elsewhere. */
export function Manifest() {
  const workspace = useWorkspace();
  return (
    <Loaded from={useManifest()}>
      {(body) => {
        const text = JSON.stringify(body.manifest, null, 2);
        return (
          <Card
            title="Manifest"
            about="The declarations of this workspace, as a file that creates it elsewhere."
            actions={
              <Button
                size="xs"
                variant="default"
                leftSection={<Download size={14} />}
                onClick={() => download(`${workspace}.json`, text, "application/json")}
              >
                Download
              </Button>
            }
          >
            <div className="stack">
              <Notice>
                Apply it with{" "}
                <code>
                  {RAPPORT} apply {workspace}.json
                </code>
                .{" "}
                {body.variables.length > 0
                  ? "Secrets are left out. Set these in the environment:"
                  : "It needs no variables."}
                {body.variables.map((name) => (
                  <div key={name} className="mono">
                    {name}
                  </div>
                ))}
              </Notice>
              <Json value={body.manifest} label="Manifest" />
            </div>
          </Card>
        );
      }}
    </Loaded>
  );
}
