// Marks names of a draft as deleted.
#pragma once

int whiteouts_main(int folder);
