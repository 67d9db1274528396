const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text has the form of a UUID, in upper or lower case and of any version. */
export const isUuid = (text: string): boolean => UUID.test(text);

/** The UUID that 32 hexadecimal digits write; of more digits the first. */
export const uuidOf = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    "-",
  );

/** A UUIDv7 before all others of this time. */
export const idAt = (time: Date): string =>
  uuidOf(`${time.getTime().toString(16).padStart(12, "0")}70008000000000000000`);
