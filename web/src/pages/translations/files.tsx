import { Button, FileButton, Menu } from "@mantine/core";
import { Download, Upload } from "lucide-react";
import { exportTranslations, type FileKind, importTranslations } from "../../api/messages.ts";
import { download } from "../../components/download.ts";
import { tellDone, tellFailed } from "../../components/feedback.ts";

interface FilesProps {
  readonly workspace: string;
  readonly id: string;
}

/** Translations as files for translators: out and in. */
export function Files({ workspace, id }: FilesProps) {
  const save = async (kind: FileKind) => {
    try {
      const { text, type } = await exportTranslations(workspace, id, kind);
      download(`translations-${id}.${kind}`, text, type);
    } catch (error) {
      tellFailed(error);
    }
  };
  const read = async (file: File | null) => {
    if (!file) return;
    try {
      const kind = /\.csv$/i.test(file.name) ? "csv" : "xliff";
      const { imported, skipped_count = 0 } = await importTranslations(workspace, id, kind, file);
      const strings = imported.reduce((sum, each) => sum + each.strings, 0);
      const skipped = skipped_count > 0 ? `, skipped ${skipped_count}` : "";
      tellDone(`Imported ${strings} strings in ${imported.length} locales${skipped}.`);
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
      <FileButton onChange={(file) => void read(file)} accept=".csv,.xliff,.xlf,.xml">
        {(props) => (
          <Button {...props} variant="default" leftSection={<Upload size={15} />}>
            Import
          </Button>
        )}
      </FileButton>
    </>
  );
}
