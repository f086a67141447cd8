/** Builds container images from what is on this machine, without a registry or a container engine. */
export { buildRuntimeImage, runtimeImageRepository } from "./runtime-image";
export type { RuntimeImageOptions } from "./runtime-image";
export { buildBusyboxImage, buildPauseImage, busyboxImageName, pauseImageName } from "./small-images";
export { imageId, writeImageArchive } from "./image-archive";
export type { ImageArchive, ImageSpec } from "./image-archive";
export { writeLayer } from "./layer";
export type { Layer, LayerEntry } from "./layer";
