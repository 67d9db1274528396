import { ColorInput, Group, Stack, TextInput } from "@mantine/core";
import { useForm } from "@mantine/form";
import { useMutation } from "@tanstack/react-query";
import { useChangeSettings, useSettings } from "../../api/administration.ts";
import type { Schemas } from "../../api/client.ts";
import { FeatureLink } from "../../components/feature-link.tsx";
import { tellDone } from "../../components/feedback.tsx";
import { SaveFailure } from "../../components/form.tsx";
import { Card } from "../../components/page.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { Loaded } from "../../components/states.tsx";

type Settings = Schemas["WorkspaceSettings"];
type Values = Record<"company" | "logo_url" | "color" | "color_dark", string>;

/** How the built-in preference page presents the workspace. */
export function Brand() {
  const settings = useSettings();
  return (
    <Card
      title="Brand"
      about={
        <>
          How the built-in{" "}
          <FeatureLink to="/w/$workspace/preference-centers" className="link">
            preference pages
          </FeatureLink>{" "}
          present the workspace. Users see a change the next time they open their page.
        </>
      }
    >
      <Loaded from={settings}>{(body) => <BrandForm settings={body.settings} />}</Loaded>
    </Card>
  );
}

function BrandForm({ settings }: { readonly settings: Settings }) {
  const change = useChangeSettings();
  const stored = (settings.brand ?? {}) as Partial<Values>;
  const form = useForm<Values>({
    initialValues: { company: "", logo_url: "", color: "", color_dark: "", ...stored },
  });
  const saving = useMutation({
    mutationFn: (values: Values) => {
      const set = Object.entries(values).map(([name, value]) => [name, value.trim() || null]);
      return change({ brand: Object.fromEntries(set) });
    },
    onSuccess: () => tellDone("Saved the brand."),
  });
  const text = (name: keyof Values, label: string, description: string, placeholder: string) => (
    <TextInput
      label={label}
      description={description}
      placeholder={placeholder}
      {...form.getInputProps(name)}
    />
  );
  return (
    <form onSubmit={form.onSubmit((values) => saving.mutate(values))}>
      <Stack>
        <SaveFailure error={saving.error} />
        {text("company", "Company", "The name that users know. Shown if there is no logo.", "Acme")}
        {text(
          "logo_url",
          "Logo",
          "An https address, or the image itself as a data URL of at most 64 KB.",
          "https://acme.example/logo.png",
        )}
        <div className="fields">
          {(["color", "color_dark"] as const).map((name) => (
            <ColorInput
              key={name}
              label={name === "color" ? "Color" : "Color on dark screens"}
              description={
                name === "color"
                  ? "The color of buttons and switches. Black or white is written on it."
                  : "The other one if this is empty."
              }
              placeholder="#0b6e4f"
              format="hex"
              withEyeDropper={false}
              {...form.getInputProps(name)}
            />
          ))}
        </div>
        <Group justify="flex-end">
          <PermittedButton
            needs="admin"
            type="submit"
            loading={saving.isPending}
            disabled={!form.isDirty()}
          >
            Save
          </PermittedButton>
        </Group>
      </Stack>
    </form>
  );
}
