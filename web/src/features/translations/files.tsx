import { Button, FileInput, Group, Menu, Stack } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { Download, FileUp, Upload } from "lucide-react";
import { useState } from "react";
import {
  exportTranslations,
  type FileKind,
  type Imported,
  importTranslations,
} from "../../api/messages.ts";
import { useWorkspace } from "../../api/workspace.ts";
import { Dialog, useClose, useDialog } from "../../components/dialog.tsx";
import { download } from "../../components/download.ts";
import { tellFailed } from "../../components/feedback.tsx";
import { SaveFailure } from "../../components/form.tsx";
import { PermittedButton } from "../../components/permitted.tsx";
import { Notice } from "../../components/states.tsx";
import { Tag } from "../../components/tag.tsx";

interface FilesProps {
  readonly message: { readonly id: string; readonly of: string; readonly channel: string };
}

/** Translations as files for translators: out and in. */
export function Files({ message }: FilesProps) {
  const workspace = useWorkspace();
  const { open, dialog } = useDialog();
  const save = async (kind: FileKind) => {
    try {
      const { text, type } = await exportTranslations(workspace, message.id, kind);
      download(`${fileName(message)}.${kind}`, text, type);
    } catch (error) {
      tellFailed(error);
    }
  };
  return (
    <>
      <Menu>
        <Menu.Target>
          <Button variant="default" leftSection={<Download size={15} />}>
            Export
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => void save("csv")}>CSV, for spreadsheets</Menu.Item>
          <Menu.Item onClick={() => void save("xliff")}>XLIFF 1.2, for translation tools</Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <PermittedButton
        needs="send_campaigns_canvases"
        variant="default"
        leftSection={<Upload size={15} />}
        onClick={() => open(<ImportDialog id={message.id} />)}
      >
        Import
      </PermittedButton>
      {dialog}
    </>
  );
}

/** `welcome-email`, with what file systems take. */
const fileName = ({ of, channel }: FilesProps["message"]): string =>
  `${of} ${channel}`
    .toLowerCase()
    .replace(/[^\p{L}\p{Nd}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 100);

function ImportDialog({ id }: { readonly id: string }) {
  const close = useClose();
  const workspace = useWorkspace();
  const [file, setFile] = useState<File | null>(null);
  const importing = useMutation({
    mutationFn: (chosen: File) =>
      importTranslations(workspace, id, /\.csv$/i.test(chosen.name) ? "csv" : "xliff", chosen),
  });
  return (
    <Dialog title="Import translations">
      {importing.data ? (
        <Outcome imported={importing.data} />
      ) : (
        <form
          onSubmit={(event) => {
            event.preventDefault();
            if (file) importing.mutate(file);
          }}
        >
          <Stack>
            <SaveFailure error={importing.error} />
            <FileInput
              label="File"
              description="A CSV or XLIFF file as Export writes it. Strings that the file omits stay the same."
              placeholder="Choose a file"
              leftSection={<FileUp size={15} />}
              accept=".csv,.xliff,.xlf,.xml"
              value={file}
              onChange={(chosen) => {
                setFile(chosen);
                importing.reset();
              }}
            />
            <Group justify="flex-end" gap="sm">
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button type="submit" disabled={!file} loading={importing.isPending}>
                Import
              </Button>
            </Group>
          </Stack>
        </form>
      )}
    </Dialog>
  );
}

/** The imported and the skipped strings of the file. */
function Outcome({ imported }: { readonly imported: Imported }) {
  const close = useClose();
  const { imported: locales, skipped = [], skipped_count: left = skipped.length } = imported;
  const strings = locales.reduce((sum, each) => sum + each.strings, 0);
  return (
    <Stack>
      <Notice tone={strings > 0 ? "good" : "warn"} title={`Imported ${strings} strings`}>
        {strings === 0 && "The file has no translation for a string of this message."}
      </Notice>
      <ul className="plain-list">
        {locales.map(({ locale_key, strings: count, missing }) => (
          <li key={locale_key} className="spread">
            <span>
              <strong className="mono">{locale_key}</strong> {count} strings
            </span>
            {missing.length > 0 ? (
              <Tag tone="warn">{missing.length} missing</Tag>
            ) : (
              <Tag tone="good">Complete</Tag>
            )}
          </li>
        ))}
      </ul>
      {left > 0 && (
        <Notice tone="warn" title={`Left out ${left}`}>
          <ul className="plain-list">
            {skipped.slice(0, 20).map(({ message }) => (
              <li key={message}>{message}</li>
            ))}
          </ul>
        </Notice>
      )}
      <Group justify="flex-end" gap="sm">
        <Button onClick={close} data-autofocus>
          Done
        </Button>
      </Group>
    </Stack>
  );
}
