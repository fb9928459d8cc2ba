// SPDX-License-Identifier: Apache-2.0
/* A client that links nothing: finds both phases of operators in a library by their names.
 *
 *   find_phases LIBRARY OPERATOR... */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
    void* library = dlopen(argv[1], RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    int missing = 0;
    for (int i = 2; i < argc; ++i) {
        char first[256];
        snprintf(first, sizeof first, "%sGetWorkspaceSize", argv[i]);
        if (dlsym(library, first) == NULL || dlsym(library, argv[i]) == NULL) {
            fprintf(stderr, "%s has not both phases of %s\n", argv[1], argv[i]);
            ++missing;
        }
    }
    return missing > 0 || argc < 7 ? 1 : 0;
}
