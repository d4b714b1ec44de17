#include <cstdio>

int main() {
  std::puts("sluice " SLUICE_VERSION);
  return 0;
}
