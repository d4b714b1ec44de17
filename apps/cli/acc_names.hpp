// The names that options and reports use for the choices of Active-Compute-Combine.
#pragma once

#include "apps/cli/names.hpp"
#include "engine/acc/options.hpp"

namespace sluice::apps {

inline constexpr std::array kAccDirections{
    Name<acc::AccDirection>{"auto", acc::AccDirection::automatic},
    Name<acc::AccDirection>{"push", acc::AccDirection::push},
    Name<acc::AccDirection>{"pull", acc::AccDirection::pull},
};

inline constexpr std::array kAccFilters{
    Name<acc::AccFilter>{"jit", acc::AccFilter::jit},
    Name<acc::AccFilter>{"ballot", acc::AccFilter::ballot},
    Name<acc::AccFilter>{"online", acc::AccFilter::online},
    Name<acc::AccFilter>{"batch", acc::AccFilter::batch},
};

inline constexpr std::array kAccFusions{
    Name<acc::AccFusion>{"none", acc::AccFusion::none},
    Name<acc::AccFusion>{"push-pull", acc::AccFusion::push_pull},
    Name<acc::AccFusion>{"all", acc::AccFusion::all},
};

}  // namespace sluice::apps
