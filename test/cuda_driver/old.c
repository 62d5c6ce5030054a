/* A driver of long ago: one of the functions that the plug-in needs. */
int cuInit(unsigned flags) { return (int)flags; }
