const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text has the form of a UUID, in upper or lower case and of any version. */
export const isUuid = (text: string): boolean => UUID.test(text);
